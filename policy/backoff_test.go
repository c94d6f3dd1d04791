package policy

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDelaysGrowByTheFactorUpToTheMaximum(t *testing.T) {
	b := backoff{delay: 200 * time.Millisecond, maxDelay: 3 * time.Second, factor: 2, jitter: JitterNone}
	const ms = time.Millisecond
	for i, want := range []time.Duration{200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3000 * ms, 3000 * ms} {
		assert.Equal(t, want, b.wait(i+1, nil))
	}
	assert.Equal(t, 3*time.Second, b.wait(10_000, nil))
	assert.Equal(t, 3*time.Second, b.wait(math.MaxInt, nil))
}

func TestFactor1KeepsTheDelay(t *testing.T) {
	b := backoff{delay: time.Second, maxDelay: time.Minute, factor: 1, jitter: JitterNone}
	for _, attempt := range []int{1, 2, 10_000, math.MaxInt} {
		assert.Equal(t, time.Second, b.wait(attempt, nil))
	}
}

func TestNoDelayStaysNoDelay(t *testing.T) {
	b := backoff{delay: 0, maxDelay: time.Minute, factor: 1e300, jitter: JitterFull}
	for _, attempt := range []int{1, 2, 10_000} {
		assert.Zero(t, b.wait(attempt, nil), "0 × ∞ is not a number")
	}
}

func TestJitterStaysInItsRangeAndUsesIt(t *testing.T) {
	const d = time.Second
	for jitter, least := range map[Jitter]time.Duration{JitterFull: 0, JitterEqual: d / 2} {
		b := backoff{delay: d, maxDelay: time.Minute, factor: 2, jitter: jitter}
		lowest, highest := time.Hour, time.Duration(0)
		for range 10_000 {
			wait := b.wait(1, nil)
			lowest, highest = min(lowest, wait), max(highest, wait)
		}
		assert.GreaterOrEqual(t, lowest, least)
		assert.LessOrEqual(t, highest, d)
		assert.Less(t, lowest, least+d/50, "the low end is used")
		assert.Greater(t, highest, d-d/50, "and the high one")
	}
	tiny := backoff{delay: 1, maxDelay: 1, factor: 1, jitter: JitterEqual}
	assert.Equal(t, time.Duration(1), tiny.wait(1, nil))
}

func TestJitterIsFullUnlessTheFactorIs1(t *testing.T) {
	assert.Equal(t, JitterFull, defaultJitter(&BackoffSpec{Factor: new(2.0)}))
	assert.Equal(t, JitterFull, defaultJitter(&BackoffSpec{Factor: new(1.0000001)}))
	assert.Equal(t, JitterNone, defaultJitter(&BackoffSpec{Factor: new(1.0)}))
	assert.Equal(t, JitterEqual, defaultJitter(&BackoffSpec{Factor: new(1.0), Jitter: new(JitterEqual)}))
	assert.Equal(t, JitterNone, defaultJitter(&BackoffSpec{Factor: new(2.0), Jitter: new(JitterNone)}))
}

func TestResultsOfAFuncAreBroughtInRange(t *testing.T) {
	down := errors.New("down")
	var got time.Duration
	b := backoff{maxDelay: time.Minute, fn: func(attempt int, err error) time.Duration {
		assert.Equal(t, 7, attempt)
		assert.Same(t, down, err)
		return got
	}}
	for result, want := range map[time.Duration]time.Duration{
		0: 0, time.Second: time.Second, -time.Second: 0, math.MinInt64: 0, time.Hour: time.Minute, math.MaxInt64: time.Minute,
	} {
		got = result
		assert.Equal(t, want, b.wait(7, down))
	}
}

func FuzzBackoff(f *testing.F) {
	f.Add(int64(200*time.Millisecond), int64(30*time.Second), 2.0, uint8(1), 10_000)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), 1.0, uint8(2), 1)
	f.Add(int64(math.MaxInt64-1), int64(math.MaxInt64), 1.0000000001, uint8(3), math.MaxInt)
	f.Add(int64(1<<62+1), int64(1<<62+1), 1.0, uint8(1), 1)
	f.Add(int64(0), int64(1), math.MaxFloat64, uint8(1), 3)
	f.Fuzz(func(t *testing.T, delay, maxDelay int64, factor float64, jitter uint8, attempt int) {
		if delay < 0 || maxDelay < 1 || delay > maxDelay || !(factor >= 1 && factor <= math.MaxFloat64) || attempt < 1 {
			t.Skip("refused by validation")
		}
		b := backoff{
			delay: time.Duration(delay), maxDelay: time.Duration(maxDelay), factor: factor, jitter: Jitter(1 + jitter%3),
		}
		wait := b.wait(attempt, nil)
		if wait < 0 || wait > b.maxDelay {
			t.Fatalf("%v is not from 0 to %v", wait, b.maxDelay)
		}
		if b.jitter == JitterEqual && wait < b.base(attempt)/2 {
			t.Fatalf("%v is less than half of %v", wait, b.base(attempt))
		}
		if b.jitter == JitterNone && attempt < math.MaxInt && wait > b.base(attempt+1) {
			t.Fatalf("the wait shrinks after attempt %d", attempt)
		}
	})
}
