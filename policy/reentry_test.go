package policy_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// gatedSpec has each gate, with room for exactly one call.
func gatedSpec(mode policy.TimeoutMode) policy.Spec {
	return policy.Spec{
		Timeout:        timeoutSpec(time.Minute, mode),
		CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(5), OpenDuration: new(time.Minute)},
		Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1)},
		RateLimit:      &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)},
	}
}

func TestANestedCallUnderTheSamePolicyPassesItsGatesOnce(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, gatedSpec(mode))
			breaker, _ := registry.CircuitBreaker("carrier")
			bulkhead, _ := registry.Bulkhead("carrier")
			var depth int
			var nested func(context.Context) (string, error)
			nested = func(ctx context.Context) (string, error) {
				assert.Equal(t, 1, bulkhead.Running())
				if depth++; depth < 4 {
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					return policy.Execute(ctx, p.WithSource("nested"), nested)
				}
				return "quote", nil
			}
			value, err := policy.Execute(t.Context(), p, nested)
			assert.NoError(t, err)
			assert.Equal(t, "quote", value)
			assert.Equal(t, 4, depth)
			assert.Equal(t, 1, breaker.Stats().Calls)
			assert.Zero(t, bulkhead.Running())
		})
	})
}

func TestANestedFailureIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, gatedSpec(policy.Cooperative))
		breaker, _ := registry.CircuitBreaker("carrier")
		err := run(t.Context(), p, func(ctx context.Context) (string, error) { return policy.Execute(ctx, p, fail) })
		assert.Same(t, errDown, err)
		assert.Equal(t, 1, breaker.Stats().Failures)
	})
}

func TestAProbeDoesNotRejectItself(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, gatedSpec(mode))
			breaker, _ := registry.CircuitBreaker("carrier")
			breaker.Trip()
			time.Sleep(time.Minute)
			err := run(t.Context(), p, func(ctx context.Context) (string, error) {
				assert.Equal(t, 1, breaker.Stats().Probes)
				return policy.Execute(ctx, p, func(ctx context.Context) (string, error) {
					assert.Equal(t, 1, breaker.Stats().Probes)
					return "", nil
				})
			})
			assert.NoError(t, err)
			assert.Equal(t, policy.StateClosed, breaker.State())
		})
	})
}

// A call that holds the breaker makes its nested call even after the breaker has opened: it
// has its permit.
func TestANestedCallNeedsNoOtherPermitWhenTheBreakerOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, gatedSpec(policy.Cooperative))
		breaker, _ := registry.CircuitBreaker("carrier")
		assert.NoError(t, run(t.Context(), p, func(ctx context.Context) (string, error) {
			breaker.Trip()
			return policy.Execute(ctx, p, succeed)
		}))
	})
}

func TestAPolicyThatSharesOnlyTheBreakerPassesItsOwnGates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, gatedSpec(policy.Cooperative))
		other, err := registry.New("other", policy.Spec{
			CircuitBreaker: &policy.CircuitBreakerSpec{Name: new("carrier")},
			Bulkhead:       &policy.BulkheadSpec{},
			RateLimit:      limitSpec(5, time.Hour),
		})
		require.NoError(t, err)
		breaker, _ := registry.CircuitBreaker("carrier")
		bulkhead, _ := registry.Bulkhead("other")
		limiter, _ := registry.RateLimiter("other")
		assert.NoError(t, run(t.Context(), p, func(ctx context.Context) (string, error) {
			return policy.Execute(ctx, other, func(ctx context.Context) (string, error) {
				assert.Equal(t, 1, bulkhead.Running())
				return policy.Execute(ctx, p, func(context.Context) (string, error) {
					assert.Equal(t, 1, bulkhead.Running(), "two levels up is held too")
					return "", nil
				})
			})
		}))
		assert.Equal(t, 1, breaker.Stats().Calls)
		assert.Equal(t, 4, limiter.Available())
	})
}

func TestAnUnrelatedPolicyInsideCountsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, gatedSpec(policy.Cooperative))
		other, err := registry.New("other", gatedSpec(policy.Enforced))
		require.NoError(t, err)
		assert.NoError(t, run(t.Context(), p, func(ctx context.Context) (string, error) {
			return policy.Execute(ctx, other, succeed)
		}))
		for _, name := range []string{"carrier", "other"} {
			breaker, _ := registry.CircuitBreaker(name)
			assert.Equal(t, 1, breaker.Stats().Calls)
		}
	})
}

func TestAContextThatOutlivedItsAttemptHoldsNothing(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			spec := gatedSpec(mode)
			spec.RateLimit = limitSpec(5, time.Hour)
			p, registry := newPolicy(t, spec)
			breaker, _ := registry.CircuitBreaker("carrier")
			bulkhead, _ := registry.Bulkhead("carrier")
			limiter, _ := registry.RateLimiter("carrier")
			var leaked context.Context
			require.NoError(t, run(t.Context(), p, func(ctx context.Context) (string, error) {
				leaked = context.WithoutCancel(ctx)
				return "", nil
			}))
			assert.NoError(t, run(leaked, p, func(context.Context) (string, error) {
				assert.Equal(t, 1, bulkhead.Running())
				return "", nil
			}))
			assert.Equal(t, 2, breaker.Stats().Calls)
			assert.Equal(t, 3, limiter.Available())
			breaker.Trip()
			assert.ErrorIs(t, run(leaked, p, succeed), policy.ErrCircuitOpen)
		})
	})
}

func TestAnAbandonedAttemptHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := gatedSpec(policy.Enforced)
		spec.RateLimit = nil
		p, registry := newPolicy(t, spec)
		breaker, _ := registry.CircuitBreaker("carrier")
		nested := make(chan error, 1)
		assert.ErrorIs(t, run(t.Context(), p, func(ctx context.Context) (string, error) {
			time.Sleep(2 * time.Minute)
			nested <- run(context.WithoutCancel(ctx), p, succeed)
			return "", nil
		}), policy.ErrTimeout)
		assert.NoError(t, <-nested)
		assert.Equal(t, 2, breaker.Stats().Calls, "the timeout, and the call made after it")
		require.NoError(t, registry.Wait(t.Context()))
	})
}

// With HoldAbandoned the slot stays the attempt's. Were it to wait for one, it would wait for
// itself.
func TestAnAbandonedAttemptThatHoldsItsSlotNeedsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := gatedSpec(policy.Enforced)
		spec.RateLimit = limitSpec(5, time.Hour)
		spec.Bulkhead.MaxQueue, spec.Bulkhead.HoldAbandoned = new(5), new(true)
		p, registry := newPolicy(t, spec)
		breaker, _ := registry.CircuitBreaker("carrier")
		bulkhead, _ := registry.Bulkhead("carrier")
		limiter, _ := registry.RateLimiter("carrier")
		nested := make(chan error, 1)
		var leaked context.Context
		assert.ErrorIs(t, run(t.Context(), p, func(ctx context.Context) (string, error) {
			time.Sleep(2 * time.Minute)
			leaked = context.WithoutCancel(ctx)
			waiting, cancel := context.WithTimeout(leaked, time.Hour)
			defer cancel()
			nested <- run(waiting, p, func(context.Context) (string, error) {
				assert.Equal(t, 1, bulkhead.Running())
				return "", nil
			})
			assert.Equal(t, 1, bulkhead.Running(), "the nested call released nothing")
			return "", nil
		}), policy.ErrTimeout)
		start := time.Now()
		assert.NoError(t, <-nested)
		assert.Less(t, time.Since(start), 2*time.Minute, "it did not wait")
		assert.Equal(t, 2, breaker.Stats().Calls, "the other gates are passed again")
		assert.Equal(t, 3, limiter.Available())

		require.NoError(t, registry.Wait(t.Context()))
		assert.Zero(t, bulkhead.Running())
		assert.NoError(t, run(leaked, p, func(context.Context) (string, error) {
			assert.Equal(t, 1, bulkhead.Running(), "the slot is held no longer")
			return "", nil
		}))
	})
}

// The nested call's context ends with the same cause as its own timer would give it.
func TestATimeoutIsToldByTheCallItBelongsTo(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode), Retry: retrySpec(1, 0)})
			events := record(registry)
			var inner error
			outer := run(t.Context(), p, func(ctx context.Context) (string, error) {
				time.Sleep(500 * time.Millisecond)
				inner = run(ctx, p, obey)
				return "", inner
			})
			assert.ErrorIs(t, outer, policy.ErrTimeout)
			assert.Equal(t, context.DeadlineExceeded, inner)
			assert.Equal(t, []policy.EventKind{"timeout"}, events.kinds())
		})
	})
}
