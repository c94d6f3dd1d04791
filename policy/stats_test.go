package policy_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestABreakerTellsItsSettings(t *testing.T) {
	_, breaker, _ := newBreaker(t, func(b *policy.CircuitBreakerSpec) {
		b.FailureRate, b.HalfOpenMaxCalls, b.HalfOpenMaxWait = new(60), new(3), new(5*time.Second)
	})
	assert.Equal(t, policy.CircuitBreakerSettings{
		FailureRate: 60, MinimumCalls: 2, Window: *policy.CountWindow(4), OpenDuration: time.Minute,
		HalfOpenMaxCalls: 3, HalfOpenMaxWait: 5 * time.Second,
	}, breaker.Settings())
}

func TestALimiterTellsItsBurst(t *testing.T) {
	_, registry := newPolicy(t, policy.Spec{RateLimit: &policy.RateLimitSpec{Limit: new(2), Interval: new(time.Second), Burst: new(7)}})
	limiter, ok := registry.RateLimiter("carrier")
	require.True(t, ok)
	assert.Equal(t, 7, limiter.Burst())
}

func TestAWindowIsShownAsItWasWhenTheBreakerOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, func(b *policy.CircuitBreakerSpec) { b.MinimumCalls = new(4) })
		assert.Empty(t, breaker.Window(20))
		times(3, p, succeed)
		times(2, p, fail)
		good, bad := policy.WindowPart{Calls: 1}, policy.WindowPart{Calls: 1, Failures: 1}
		window := []policy.WindowPart{good, good, bad, bad}
		require.Equal(t, policy.StateOpen, breaker.State())
		assert.Equal(t, window, breaker.Window(20))
		assert.Equal(t, []policy.WindowPart{{Calls: 2}, {Calls: 2, Failures: 2}}, breaker.Window(2), "neighbours together")
		times(1, p, succeed) // rejected
		time.Sleep(time.Minute)
		require.Equal(t, policy.StateHalfOpen, breaker.State())
		assert.Equal(t, window, breaker.Window(20))
		times(1, p, succeed)
		assert.Empty(t, breaker.Window(20))
		assert.PanicsWithValue(t, "policy: CircuitBreaker.Window: 0 parts: must be at least 1", func() { breaker.Window(0) })
	})
}
