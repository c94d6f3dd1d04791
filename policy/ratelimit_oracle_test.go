package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// grants plays calls to a limiter. The lowest bits of each byte say what happens: a call that
// gives its token back (3), an earlier call that does (2), or a call that uses it; the rest is
// the wait before, or which of the earlier calls. It returns the moments that calls were let
// through at.
func grants(t *testing.T, s rateLimitSettings, input []byte) []time.Time {
	t.Helper()
	l := newRateLimiter("fuzzed", s)
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	var taken []reservation
	var passed []time.Time // when each of them has its turn
	for _, b := range input[:min(len(input), 400)] {
		if b&3 == 2 && len(taken) > 0 {
			i := len(taken) - 1 - int(b>>2)%len(taken)
			l.refundAt(now, taken[i])
			taken, passed = slices.Delete(taken, i, i+1), slices.Delete(passed, i, i+1)
			most := s.burst + int(s.maxWait/l.step) + 1
			if len(l.unused) > most {
				t.Fatalf("remembers %d unused tokens, where %d have a place", len(l.unused), most)
			}
			continue
		}
		now = now.Add(time.Duration(b>>2) * s.interval / time.Duration(8*s.limit))
		r, ok := l.reserveAt(now, s.maxWait)
		switch {
		case !ok && r.wait <= s.maxWait:
			t.Fatalf("rejected a call that had to wait for %v and may wait for %v", r.wait, s.maxWait)
		case !ok:
			// What a rejected caller is told must be true: then, and not before, one may pass.
			if _, early := l.reserveAt(now.Add(r.wait-1), 0); early {
				t.Fatalf("a call might have come back before %v", r.wait)
			}
			if r, _ := l.reserveAt(now.Add(r.wait), 0); r.wait != 0 {
				t.Fatalf("a call that came back when told to had to wait for another %v", r.wait)
			} else {
				l.refundAt(now, r)
			}
		case r.wait < 0 || r.wait > s.maxWait:
			t.Fatalf("a wait of %v, and %v is the most", r.wait, s.maxWait)
		case b&3 == 3:
			l.refundAt(now, r)
		default:
			taken = append(taken, r)
			passed = append(passed, now.Add(r.wait))
		}
	}
	return passed
}

// FuzzRateLimiter checks the promise by brute force: no interval, wherever it begins, sees more
// than Limit + Burst calls.
func FuzzRateLimiter(f *testing.F) {
	f.Add(uint8(5), uint8(5), uint16(0), []byte{0, 0, 0, 0, 0, 0, 0, 60, 60, 60, 0, 0, 0, 0, 0})
	f.Add(uint8(1), uint8(1), uint16(900), []byte{0, 0, 3, 0, 8, 3, 8, 8, 255, 0, 0})
	f.Add(uint8(7), uint8(3), uint16(5000), []byte{4, 4, 4, 3, 3, 3, 4, 4, 0, 0, 0, 7, 7, 7})
	f.Add(uint8(0), uint8(0), uint16(9000), []byte{0, 0, 0, 0, 0, 0, 14, 10, 2, 0, 0, 40, 0, 2, 6, 2, 0, 0})
	f.Fuzz(func(t *testing.T, limit, burst uint8, maxWait uint16, input []byte) {
		s := rateLimitSettings{
			limit: int(limit%20) + 1, burst: int(burst%20) + 1,
			interval: time.Second, maxWait: time.Duration(maxWait) * time.Millisecond,
		}
		checkPromise(t, s, grants(t, s, input))
	})
}

func checkPromise(t *testing.T, s rateLimitSettings, passed []time.Time) {
	t.Helper()
	for _, from := range passed {
		inside := 0
		for _, at := range passed {
			if !at.Before(from) && at.Sub(from) <= s.interval {
				inside++
			}
		}
		if inside > s.limit+s.burst {
			t.Fatalf("%d calls within %v of %v, with limit %d and burst %d", inside, s.interval, from, s.limit, s.burst)
		}
	}
}

func TestNoIntervalSeesMoreThanLimitAndBurst(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 2))
		s := rateLimitSettings{
			limit: 1 + random.IntN(12), burst: 1 + random.IntN(12), interval: time.Second + time.Duration(random.IntN(1000)),
			maxWait: time.Duration(random.IntN(4)) * time.Second,
		}
		calls := make([]byte, 200)
		for i := range calls {
			calls[i] = byte(random.Uint32() & random.Uint32())
		}
		checkPromise(t, s, grants(t, s, calls))
	}
}

// A token bucket written as everybody would: it counts tokens. Without waits and refunds the
// limiter must let the same calls through.
func TestLimiterAgreesWithABucketThatCountsTokens(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		limit, burst := 1+random.IntN(9), 1+random.IntN(9)
		const step = 1000 // nanoseconds for a token
		l := newRateLimiter("", rateLimitSettings{limit: limit, burst: burst, interval: time.Duration(limit * step)})
		start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		tokens, now := burst*step, 0 // tokens in thousandths
		for range 200 {
			wait := random.IntN(2 * step)
			now += wait
			tokens = min(burst*step, tokens+wait)
			want := tokens >= step
			r, got := l.reserveAt(start.Add(time.Duration(now)), 0)
			if want != got {
				t.Fatalf("seed %d: let through %v, want %v with %d thousandths of a token", seed, got, want, tokens)
			}
			if !want {
				assert.Equal(t, time.Duration(step-tokens), r.wait)
			} else {
				tokens -= step
			}
		}
	}
}

func TestATokenIsRefundedOnceAllTakenSinceAre(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newRateLimiter("", rateLimitSettings{limit: 1, interval: time.Second, burst: 1, maxWait: time.Hour})
	reserve := func() reservation {
		r, ok := l.reserveAt(start, time.Hour)
		assert.True(t, ok)
		return r
	}
	first, second, third := reserve(), reserve(), reserve()
	assert.Equal(t, []time.Duration{0, time.Second, 2 * time.Second}, []time.Duration{first.wait, second.wait, third.wait})

	l.refundAt(start, second) // the third keeps its turn
	fourth := reserve()
	assert.Equal(t, 3*time.Second, fourth.wait)
	l.refundAt(start, fourth)
	l.refundAt(start, third)
	assert.Equal(t, time.Second, reserve().wait, "the turn of the second, for nobody comes after it")
	assert.Equal(t, 2*time.Second, reserve().wait, "and it is given once")
}

func TestTokensComeBackInWhateverOrder(t *testing.T) {
	const calls = 60
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	inOrder := make([]int, calls)
	for i := range inOrder {
		inOrder[i] = i
	}
	reversed := slices.Clone(inOrder)
	slices.Reverse(reversed)
	for name, order := range map[string][]int{
		"oldest first": inOrder, "newest first": reversed, "shuffled": rand.New(rand.NewPCG(1, 4)).Perm(calls),
	} {
		t.Run(name, func(t *testing.T) {
			l := newRateLimiter("", rateLimitSettings{limit: 1, interval: time.Second, burst: 1})
			l.reserveAt(start, 0)
			var taken []reservation
			for range calls {
				r, _ := l.reserveAt(start, time.Hour)
				taken = append(taken, r)
			}
			for _, i := range order {
				l.refundAt(start.Add(time.Second/2), taken[i])
			}
			r, _ := l.reserveAt(start.Add(time.Second/2), time.Hour)
			assert.Equal(t, time.Second/2, r.wait)
			assert.Empty(t, l.unused)
		})
	}
}

func TestTokensThatCameBackOutOfTurnAreForgottenInTime(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newRateLimiter("", rateLimitSettings{limit: 1, interval: time.Second, burst: 1})
	for range 10_000 { // of each two calls the first gives up
		first, _ := l.reserveAt(now, time.Hour)
		_, ok := l.reserveAt(now, time.Hour)
		assert.True(t, ok)
		l.refundAt(now, first)
		assert.LessOrEqual(t, len(l.unused), 2)
		now = now.Add(2 * time.Second)
	}
	assert.LessOrEqual(t, cap(l.unused), 8)
}

func TestAnUnevenStepNeverExceedsTheLimit(t *testing.T) {
	l := newRateLimiter("", rateLimitSettings{limit: 3, interval: 10, burst: 1})
	assert.Equal(t, time.Duration(4), l.step, "rounded up")
}
