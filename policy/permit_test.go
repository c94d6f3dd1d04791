package policy_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// The permit is taken after the waits: no call that was admitted before the opening reaches a
// dead dependency, and what it held goes back.
func TestNoCallThatWaitedReachesADependencyThatDiedMeanwhile(t *testing.T) {
	for name, gate := range map[string]policy.Spec{
		"in the bulkhead's queue": {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(9)}},
		"for the rate limit":      {RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Second), MaxWait: new(time.Hour)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spec := quickBreaker(nil)
				spec.Bulkhead, spec.RateLimit = gate.Bulkhead, gate.RateLimit
				p, registry := newPolicy(t, spec)
				breaker, _ := registry.CircuitBreaker("carrier")
				calls := &log{}
				results := make(chan error, 5)
				for range 5 {
					go func() {
						results <- run(t.Context(), p, func(context.Context) (string, error) {
							calls.add()
							time.Sleep(time.Second)
							return "", errDown
						})
					}()
				}
				rejected := 0
				for range 5 {
					if asPolicyErrorOrNil(<-results) != nil {
						rejected++
					}
				}
				// Two fail and open the circuit. Under the rate limit the third has started by then.
				assert.Equal(t, 5-calls.len(), rejected)
				assert.LessOrEqual(t, calls.len(), 3)
				assert.Equal(t, policy.StateOpen, breaker.State())
				if bulkhead, ok := registry.Bulkhead("carrier"); ok {
					assert.Equal(t, 2, calls.len())
					assert.Zero(t, bulkhead.Running())
					assert.Zero(t, bulkhead.Queued())
				}
			})
		})
	}
}

func asPolicyErrorOrNil(err error) *policy.Error {
	e, _ := err.(*policy.Error)
	return e
}

func TestAnOpenCircuitRejectsBeforeAnythingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := quickBreaker(nil)
		spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)}
		spec.RateLimit = &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour), MaxWait: new(time.Hour)}
		p, registry := newPolicy(t, spec)
		hog, err := registry.New("hog", bulkheadSpec(policy.BulkheadSpec{Name: new("carrier")}))
		require.NoError(t, err)
		release := held(t, hog)
		breaker, _ := registry.CircuitBreaker("carrier")
		limiter, _ := registry.RateLimiter("carrier")
		breaker.Trip()

		start := time.Now()
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrCircuitOpen)
		assert.Zero(t, time.Since(start))
		assert.Equal(t, 1, limiter.Available(), "no token was taken")
		release(nil)
	})
}

func TestNoProbeIsSpentInAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := quickBreaker(nil)
		spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1), QueueTimeout: new(time.Second)}
		p, registry := newPolicy(t, spec)
		hog, err := registry.New("hog", bulkheadSpec(policy.BulkheadSpec{Name: new("carrier")}))
		require.NoError(t, err)
		breaker, _ := registry.CircuitBreaker("carrier")
		breaker.Trip()
		time.Sleep(time.Minute)
		release := held(t, hog)

		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrBulkheadFull)
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
		assert.Zero(t, breaker.Stats().Probes)
		release(nil)
		assert.NoError(t, run(t.Context(), p, succeed))
		assert.Equal(t, policy.StateClosed, breaker.State())
	})
}

func TestARejectionByTheBreakerGivesTheTokenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := quickBreaker(nil)
		spec.RateLimit = &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Minute), MaxWait: new(time.Hour)}
		p, registry := newPolicy(t, spec)
		breaker, _ := registry.CircuitBreaker("carrier")
		limiter, _ := registry.RateLimiter("carrier")
		require.NoError(t, run(t.Context(), p, succeed))
		time.AfterFunc(time.Second, breaker.Trip)
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrCircuitOpen, "after the wait for its token")
		assert.Equal(t, 1, limiter.Available())
	})
}

func TestASubscriberThatEndsTheGoroutineLeaksNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, quickBreaker(nil))
		breaker, _ := registry.CircuitBreaker("carrier")
		breaker.Trip()
		time.Sleep(time.Minute)
		cancel := registry.Subscribe(func(context.Context, policy.Event) { runtime.Goexit() })
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = run(context.Background(), p, succeed)
		}()
		<-done
		cancel()
		assert.Zero(t, breaker.Stats().Probes)
	})
}

func TestARejectedCallHoldsNothingWhileItsFallbackRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Config{})
		running := -1
		p, err := registry.New("carrier", policy.Spec{
			Bulkhead:  &policy.BulkheadSpec{MaxConcurrent: new(1)},
			RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Minute)},
			Fallback: &policy.FallbackSpec{Func: func(context.Context, error) (any, error) {
				bulkhead, _ := registry.Bulkhead("carrier")
				running = bulkhead.Running()
				return "flat rate", nil
			}},
		})
		require.NoError(t, err)
		times(2, p, succeed)
		assert.Zero(t, running)
	})
}

func TestATokenAfterTheTotalIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{
			Timeout:   &policy.TimeoutSpec{Total: new(time.Second)},
			RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(5 * time.Second), MaxWait: new(time.Minute)},
		})
		times(1, p, succeed)
		start := time.Now()
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrRateLimited)
		assert.Zero(t, time.Since(start))
	})
}
