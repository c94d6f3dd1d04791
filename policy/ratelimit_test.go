package policy_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func newLimiter(t *testing.T, change func(*policy.RateLimitSpec)) (*policy.Policy, *policy.RateLimiter, *policy.Registry) {
	t.Helper()
	p, registry := newPolicy(t, rateLimit(change))
	limiter, ok := registry.RateLimiter("carrier")
	require.True(t, ok)
	return p, limiter, registry
}

func TestTheBucketStartsFullAndThenRejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, limiter, registry := newLimiter(t, func(r *policy.RateLimitSpec) {})
		events := record(registry)
		assert.Equal(t, 10, limiter.Available())
		for range 10 {
			require.NoError(t, run(t.Context(), p, succeed))
		}
		assert.Zero(t, limiter.Available())
		err := run(t.Context(), p.WithSource("job"), succeed)
		assert.ErrorIs(t, err, policy.ErrRateLimited)
		e := asPolicyError(t, err)
		assert.Equal(t, 100*time.Millisecond, e.RetryAfter)
		assert.Equal(t, []policy.Event{{
			Kind: policy.EventRateLimited, Time: time.Now(), Policy: "carrier", Source: "job", Gate: "carrier",
			Attempt: 1, RetryAfter: 100 * time.Millisecond, Err: e,
		}}, events.all())

		time.Sleep(e.RetryAfter - 1)
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrRateLimited)
		time.Sleep(time.Nanosecond)
		assert.NoError(t, run(t.Context(), p, succeed))
		time.Sleep(time.Hour)
		assert.Equal(t, 10, limiter.Available(), "no more than the burst")
	})
}

func TestBurst1SpacesCallsEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := newLimiter(t, func(r *policy.RateLimitSpec) { r.Burst, r.MaxWait = new(1), new(time.Minute) })
		calls := &log{}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				assert.NoError(t, run(t.Context(), p, func(context.Context) (string, error) { calls.add(); return "", nil }))
			})
		}
		all.Wait()
		for i, at := range calls.times() {
			assert.Equal(t, time.Duration(i)*100*time.Millisecond, at)
		}
	})
}

func TestAWaitLongerThanMaxWaitIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := newLimiter(t, func(r *policy.RateLimitSpec) {
			r.Limit, r.Burst, r.MaxWait = new(1), new(1), new(2*time.Second)
		})
		require.NoError(t, run(t.Context(), p, succeed))
		var waiting sync.WaitGroup
		for range 2 {
			waiting.Go(func() { assert.NoError(t, run(t.Context(), p, succeed)) })
		}
		synctest.Wait()
		start := time.Now()
		err := run(t.Context(), p, succeed)
		assert.Zero(t, time.Since(start))
		assert.Equal(t, 3*time.Second, asPolicyError(t, err).RetryAfter)
		waiting.Wait()
		assert.Equal(t, 2*time.Second, time.Since(start))
	})
}

func TestNoCallWaitsForATokenBeyondItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, limiter, _ := newLimiter(t, func(r *policy.RateLimitSpec) {
			r.Limit, r.Burst, r.MaxWait = new(1), new(1), new(time.Minute)
		})
		require.NoError(t, run(t.Context(), p, succeed))
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := run(ctx, p, succeed)
		assert.Zero(t, time.Since(start))
		assert.Equal(t, time.Second, asPolicyError(t, err).RetryAfter)
		time.Sleep(time.Second)
		assert.Equal(t, 1, limiter.Available(), "it took no token")
	})
}

func TestACancelledWaitGivesItsTokenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, registry := newLimiter(t, func(r *policy.RateLimitSpec) {
			r.Limit, r.Burst, r.MaxWait = new(1), new(1), new(time.Minute)
		})
		events := record(registry)
		require.NoError(t, run(t.Context(), p, succeed))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		start := time.Now()
		assert.ErrorIs(t, run(ctx, p, succeed), context.Canceled)
		assert.Equal(t, 300*time.Millisecond, time.Since(start))
		assert.NoError(t, run(t.Context(), p, succeed))
		assert.Equal(t, time.Second, time.Since(start), "the turn of the one who left")
		assert.Empty(t, events.all())
	})
}

func TestAQueueThatGivesUpLeavesNoWaitBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := newLimiter(t, func(r *policy.RateLimitSpec) {
			r.Limit, r.Burst, r.MaxWait = new(1), new(1), new(time.Minute)
		})
		require.NoError(t, run(t.Context(), p, succeed))
		start := time.Now()
		var waiting sync.WaitGroup
		for i := range 60 {
			waiting.Go(func() {
				time.Sleep(time.Duration(i)) // so that they queue, and give up, in order
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(500*time.Millisecond, cancel)
				assert.ErrorIs(t, run(ctx, p, succeed), context.Canceled)
			})
		}
		waiting.Wait()
		assert.NoError(t, run(t.Context(), p, succeed))
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestARateLimitRejectionGivesTheSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := rateLimit(func(r *policy.RateLimitSpec) { r.Limit = new(1) })
		spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(1)}
		spec.CircuitBreaker = &policy.CircuitBreakerSpec{}
		p, registry := newPolicy(t, spec)
		times(1, p, succeed)
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrRateLimited)
		bulkhead, _ := registry.Bulkhead("carrier")
		breaker, _ := registry.CircuitBreaker("carrier")
		assert.Zero(t, bulkhead.Running())
		assert.Equal(t, 1, breaker.Stats().Calls)
	})
}

func TestEachAttemptTakesAToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := rateLimit(func(r *policy.RateLimitSpec) {})
		spec.Retry = retrySpec(4, 0)
		p, registry := newPolicy(t, spec)
		times(1, p, fail)
		limiter, _ := registry.RateLimiter("carrier")
		assert.Equal(t, 6, limiter.Available())
	})
}

func TestALimiterTellsItsSettings(t *testing.T) {
	_, limiter, _ := newLimiter(t, func(r *policy.RateLimitSpec) {})
	calls, interval := limiter.Limit()
	assert.Equal(t, 10, calls)
	assert.Equal(t, time.Second, interval)
	assert.Equal(t, "carrier", limiter.Name())
}
