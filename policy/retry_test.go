package policy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestAttemptsCountTheFirst(t *testing.T) {
	for _, attempts := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(attempts, 0)})
			calls := 0
			err := run(t.Context(), p, func(context.Context) (string, error) {
				calls++
				return "", errDown
			})
			assert.Equal(t, attempts, calls)
			assert.Same(t, errDown, err)
		})
	}
}

func TestThreeAttemptsByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: &policy.RetrySpec{}})
		fn, calls := script(errDown, errDown, errDown, errDown)
		assert.Same(t, errDown, run(t.Context(), p, fn))
		assert.Equal(t, 3, calls.len())
		at := calls.times()
		assert.LessOrEqual(t, at[1], 200*time.Millisecond)
		assert.LessOrEqual(t, at[2]-at[1], 400*time.Millisecond)
	})
}

func TestASuccessEndsTheRetrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(5, time.Second)})
		fn, calls := script(errDown, errDown)
		value, err := policy.Execute(t.Context(), p, fn)
		assert.NoError(t, err)
		assert.Equal(t, "quote", value)
		assert.Equal(t, 3, calls.len())
	})
}

func TestUnlimitedRetriesUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(policy.Unlimited, time.Second)})
		ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Second+1)
		defer cancel()
		calls := 0
		err := run(ctx, p, func(context.Context) (string, error) {
			calls++
			return "", errDown
		})
		assert.Equal(t, 1001, calls)
		assert.Same(t, errDown, err)
	})
}

func TestWaitsGrowExactlyWithoutJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Retry: &policy.RetrySpec{
			Attempts: new(6), Backoff: &policy.BackoffSpec{
				Delay: new(100 * time.Millisecond), Factor: new(3.0), MaxDelay: new(time.Second), Jitter: new(policy.JitterNone),
			}}})
		events := record(registry)
		fn, calls := script(errDown, errDown, errDown, errDown, errDown)
		require.NoError(t, run(t.Context(), p, fn))

		const ms = time.Millisecond
		assert.Equal(t, []time.Duration{0, 100 * ms, 400 * ms, 1300 * ms, 2300 * ms, 3300 * ms}, calls.times())
		for i, e := range events.all() {
			assert.Equal(t, policy.EventRetry, e.Kind)
			assert.Equal(t, i+1, e.Attempt)
			assert.Equal(t, calls.times()[i+1]-calls.times()[i], e.Delay)
			assert.Same(t, errDown, e.Err)
		}
	})
}

func TestTheFinalErrorIsTheLastAttemptsOwn(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(2, 0), Timeout: timeoutSpec(time.Second, mode)})
			last := fmt.Errorf("wrapped: %w", errDown)
			fn, _ := script(errors.New("the first"), last)
			assert.Same(t, last, run(t.Context(), p, fn))
		})
	})
}

func TestPermanentIsNotRetriedAndLosesItsMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(3, 0), Timeout: timeoutSpec(time.Second, policy.Enforced)})
		fn, calls := script(errDown, policy.Permanent(errors.ErrUnsupported))
		assert.Equal(t, errors.ErrUnsupported, run(t.Context(), p, fn))
		assert.Equal(t, 2, calls.len())
		assert.NoError(t, policy.Permanent(nil))
	})
}

func TestRetryIfIsAskedWithTheAttemptsErrorAndNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		spec := retrySpec(10, 0)
		spec.RetryIf = func(err error, attempt int) bool {
			asked = append(asked, fmt.Sprint(attempt, " ", err))
			return attempt < 3
		}
		p, _ := newPolicy(t, policy.Spec{Retry: spec})
		fn, calls := script(policy.AsClientError(errDown), policy.Permanent(errors.New("twice")), errDown, errDown)
		assert.Same(t, errDown, run(t.Context(), p, fn))
		assert.Equal(t, 3, calls.len())
		assert.Equal(t, []string{"1 carrier down", "2 twice", "3 carrier down"}, asked)
	})
}

func TestRetryIfIsAskedAboutTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := retrySpec(3, 0)
		spec.RetryIf = func(err error, _ int) bool { return !errors.Is(err, policy.ErrTimeout) }
		p, _ := newPolicy(t, policy.Spec{Retry: spec, Timeout: timeoutSpec(time.Second, policy.Cooperative)})
		start := time.Now()
		assert.ErrorIs(t, run(t.Context(), p, obey), policy.ErrTimeout)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestRetryAfterIsAFloorUnderTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(4, time.Second)})
		fn, calls := script(
			policy.WithRetryAfter(errDown, 20*time.Second),
			fmt.Errorf("busy: %w", policy.WithRetryAfter(errDown, time.Millisecond)),
			errors.Join(policy.WithRetryAfter(errDown, 2*time.Second), policy.WithRetryAfter(errDown, 3*time.Second), policy.WithRetryAfter(errDown, 1)),
		)
		require.NoError(t, run(t.Context(), p, fn))
		assert.Equal(t, []time.Duration{0, 20 * time.Second, 21 * time.Second, 24 * time.Second}, calls.times())
	})
}

func TestRetryAfterIsAFloorUnderJitterAndFunc(t *testing.T) {
	for name, backoff := range map[string]*policy.BackoffSpec{
		"jitter": {Delay: new(time.Second), Jitter: new(policy.JitterFull)},
		"func":   {Func: func(int, error) time.Duration { return -time.Hour }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := newPolicy(t, policy.Spec{Retry: &policy.RetrySpec{Backoff: backoff}})
				fn, calls := script(policy.WithRetryAfter(errDown, 5*time.Second))
				require.NoError(t, run(t.Context(), p, fn))
				assert.Equal(t, 5*time.Second, calls.times()[1])
			})
		})
	}
}

func TestARetryAfterAboveMaxDelayEndsTheRetrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[time.Duration]int{time.Minute: 2, time.Minute + 1: 1, math.MaxInt64: 1} {
			p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(3, time.Second)})
			events := record(registry)
			busy := policy.WithRetryAfter(errDown, after)
			fn, calls := script(busy)
			err := run(t.Context(), p, fn)
			assert.Equal(t, want, calls.len())
			if want == 1 {
				assert.Same(t, busy, err)
				assert.Empty(t, events.all())
			}
		}
	})
}

func TestARetryWhoseWaitWouldNotEndBeforeTheDeadlineIsNotBegun(t *testing.T) {
	for left, want := range map[time.Duration]int{time.Second: 1, time.Second + 1: 2} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(3, time.Second)})
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			fn, calls := script(errDown, errDown)
			start := time.Now()
			assert.Same(t, errDown, run(ctx, p, fn))
			assert.Equal(t, want, calls.len())
			assert.Equal(t, time.Duration(want-1)*time.Second, time.Since(start))
		})
	}
}

func TestACancelledWaitReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{
			Retry: retrySpec(3, time.Hour), CircuitBreaker: &policy.CircuitBreakerSpec{}, Fallback: &policy.FallbackSpec{Func: answer},
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		err := run(ctx, p, fail)
		assert.Equal(t, time.Second, time.Since(start))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errDown, "what it was waiting to try again")
		assert.Equal(t, "context canceled before the next attempt: carrier down", err.Error())
	})
}

func TestARejectionReplacesTheEarlierErrorAndKeepsItAsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{
			Retry:          retrySpec(5, time.Second),
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2), Window: policy.CountWindow(2), OpenDuration: new(time.Minute)},
		})
		second := errors.New("the second")
		fn, calls := script(errDown, second)
		start := time.Now()
		err := run(t.Context(), p, fn)
		assert.Equal(t, 2, calls.len())
		assert.Equal(t, 2*time.Second, time.Since(start), "rejections are not retried")
		e := asPolicyError(t, err)
		assert.Equal(t, policy.KindCircuitOpen, e.Kind)
		assert.Equal(t, 59*time.Second, e.RetryAfter)
		assert.Same(t, second, e.Cause)
	})
}

func TestNoRetryMakesTheFirstAttemptTheOnlyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(3, 0)})
		events := record(registry)
		calls := 0
		call := callOf(func(context.Context) (any, error) {
			calls++
			return nil, errDown
		})
		call.NoRetry = true
		_, err := p.Run(t.Context(), call)
		assert.Same(t, errDown, err)
		assert.Equal(t, 1, calls)
		assert.Empty(t, events.all())
	})
}

func TestAttemptFromContext(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(3, 0), Timeout: timeoutSpec(time.Second, mode)})
			inner, err := registry.New("inner", policy.Spec{Retry: retrySpec(2, 0)})
			require.NoError(t, err)
			assert.Zero(t, policy.AttemptFromContext(t.Context()))
			var seen []int
			_ = run(t.Context(), p, func(ctx context.Context) (string, error) {
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				seen = append(seen, policy.AttemptFromContext(child))
				return "", run(child, inner, func(ctx context.Context) (string, error) {
					seen = append(seen, 10*policy.AttemptFromContext(ctx))
					return "", errDown
				})
			})
			assert.Equal(t, []int{1, 10, 20, 2, 10, 20, 3, 10, 20}, seen)
		})
	})
}

func TestAFailureKeepsTheValueBesideIt(t *testing.T) {
	p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(1, 0)})
	value, err := policy.Execute(t.Context(), p, func(context.Context) (int, error) { return 7, errDown })
	assert.Equal(t, 7, value)
	assert.Same(t, errDown, err)
}

func TestWhoFirstSaysHowWaitsGrowDecidesBetweenFuncAndDelay(t *testing.T) {
	aFunc := &policy.BackoffSpec{Func: func(int, error) time.Duration { return 3 * time.Second }}
	aDelay := &policy.BackoffSpec{Delay: new(5 * time.Second), Jitter: new(policy.JitterNone)}
	for name, test := range map[string]struct {
		first, second *policy.BackoffSpec
		want          time.Duration
	}{
		"a delay before a func": {aDelay, aFunc, 5 * time.Second},
		"a func before a delay": {aFunc, aDelay, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := newRegistry(t, policy.Config{
					Defaults: policy.Spec{Retry: &policy.RetrySpec{Backoff: test.second}},
					Presets:  map[string]policy.Spec{"carrier": {Retry: &policy.RetrySpec{Attempts: new(2), Backoff: test.first}}},
				})
				carrier, err := registry.Preset("carrier")
				require.NoError(t, err)
				fn, calls := script(errDown)
				require.NoError(t, run(t.Context(), carrier, fn))
				require.Equal(t, []time.Duration{0, test.want}, calls.times())
			})
		})
	}
}
