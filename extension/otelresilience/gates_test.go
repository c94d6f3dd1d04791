package otelresilience_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension/otelresilience"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// states are the points of breakers that are in those states.
func states(of map[string]string) points {
	all := points{}
	for breaker, state := range of {
		for _, one := range []string{"closed", "open", "half-open"} {
			all["circuit_breaker="+breaker+",state="+one] = 0
		}
		all["circuit_breaker="+breaker+",state="+state] = 1
	}
	return all
}

func TestABreakersStateIsThatOfTheCollection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{OpenDuration: new(time.Minute), MinimumCalls: new(1)}})
		metrics := observe(t, registry)
		assert.Equal(t, states(map[string]string{"dependency": "closed"}), metrics.points("circuit_breaker.state"))
		execute(t.Context(), dependency(t, registry), fail)
		assert.Equal(t, states(map[string]string{"dependency": "open"}), metrics.points("circuit_breaker.state"))
		time.Sleep(time.Minute)
		assert.Equal(t, states(map[string]string{"dependency": "half-open"}), metrics.points("circuit_breaker.state"), "nobody has called since")
		assert.Equal(t, points{"circuit_breaker=dependency,state=open": 1}, metrics.points("circuit_breaker.transitions"))
		execute(t.Context(), dependency(t, registry), succeed)
		assert.Equal(t, states(map[string]string{"dependency": "closed"}), metrics.points("circuit_breaker.state"))
		assert.Equal(t, points{
			"circuit_breaker=dependency,state=open": 1, "circuit_breaker=dependency,state=half-open": 1, "circuit_breaker=dependency,state=closed": 1,
		}, metrics.points("circuit_breaker.transitions"))
	})
}

func TestABreakerOfAPolicyMadeLaterIsReadToo(t *testing.T) {
	registry := newRegistry(t, policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	metrics := observe(t, registry)
	_, err := registry.New("later", policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	require.NoError(t, err)
	breaker, _ := registry.CircuitBreaker("later")
	breaker.Trip()
	assert.Equal(t, states(map[string]string{"dependency": "closed", "later": "open"}), metrics.points("circuit_breaker.state"))
}

func TestABulkheadsLoadIsThatOfTheCollection(t *testing.T) {
	underEachHook(t, func(t *testing.T, schema func(*testgraph.Stub) graphql.ExecutableSchema) {
		registry := newRegistry(t, policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(2), MaxQueue: new(5)}})
		metrics := observe(t, registry)
		server := serve(schema(textBy(sleep)), registry)
		var clients sync.WaitGroup
		for range 5 {
			clients.Go(func() { testgraph.Post(t.Context(), t, server, "{ text }") })
		}
		synctest.Wait()
		assert.Equal(t, points{"bulkhead=dependency": 2}, metrics.points("bulkhead.running"))
		assert.Equal(t, points{"bulkhead=dependency": 3}, metrics.points("bulkhead.queued"))
		assert.Equal(t, points{"bulkhead=dependency": 2}, metrics.points("bulkhead.limit"))
		clients.Wait()
		assert.Equal(t, points{"bulkhead=dependency": 0}, metrics.points("bulkhead.running"))
		assert.Equal(t, points{"bulkhead=dependency": 0}, metrics.points("bulkhead.queued"))
	})
}

func TestALimitersTokensAreThoseOfTheCollection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Spec{RateLimit: &policy.RateLimitSpec{Limit: new(3), Interval: new(3 * time.Second)}})
		metrics := observe(t, registry)
		for range 2 {
			execute(t.Context(), dependency(t, registry), succeed)
		}
		assert.Equal(t, points{"rate_limiter=dependency": 1}, metrics.points("rate_limiter.available"))
		time.Sleep(time.Second)
		assert.Equal(t, points{"rate_limiter=dependency": 2}, metrics.points("rate_limiter.available"))
	})
}

func TestAbandonedAttemptsAreCountedAndReadUntilTheyEnd(t *testing.T) {
	underEachHook(t, func(t *testing.T, schema func(*testgraph.Stub) graphql.ExecutableSchema) {
		registry := newRegistry(t, policy.Spec{Timeout: timeout(time.Second, policy.Enforced)})
		metrics := observe(t, registry)
		assert.Equal(t, points{"": 0}, metrics.points("abandoned.running"))
		response := testgraph.Post(t.Context(), t, serve(schema(textBy(deaf)), registry), "{ text }")
		require.Len(t, response.Errors, 1)
		assert.Equal(t, points{"": 1}, metrics.points("abandoned.running"))
		require.NoError(t, registry.Wait(t.Context()))
		assert.Equal(t, points{"": 0}, metrics.points("abandoned.running"))
		assert.Equal(t, points{"field=Query.text,policy=dependency": 1}, metrics.points("abandoned.attempts"))
	})
}

func TestGatesBeyondTheLimitAreAddedUp(t *testing.T) {
	registry := newRegistry(t, policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	metrics := observe(t, registry, otelresilience.WithCardinalityLimit(1))
	metrics.all() // in which "dependency" is the first
	for _, name := range []string{"a", "b", "c"} {
		_, err := registry.New(name, policy.Spec{
			CircuitBreaker: &policy.CircuitBreakerSpec{}, Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(5)},
			RateLimit: &policy.RateLimitSpec{Limit: new(7), Interval: new(time.Hour)},
		})
		require.NoError(t, err)
	}
	breaker, _ := registry.CircuitBreaker("b")
	breaker.Trip()
	wanted := states(map[string]string{"dependency": "closed", "_OTHER": "open"})
	wanted["circuit_breaker=_OTHER,state=closed"] = 2
	assert.Equal(t, wanted, metrics.points("circuit_breaker.state"))
	assert.Equal(t, points{"circuit_breaker=_OTHER,state=open": 1}, metrics.points("circuit_breaker.transitions"))
	assert.Equal(t, points{"bulkhead=a": 5, "bulkhead=_OTHER": 10}, metrics.points("bulkhead.limit"))
	assert.Equal(t, points{"rate_limiter=a": 7, "rate_limiter=_OTHER": 14}, metrics.points("rate_limiter.available"))
}

func TestLoadBeyondTheLimitIsAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Spec{Retry: retry(1)})
		metrics := observe(t, registry, otelresilience.WithCardinalityLimit(1))
		for _, name := range []string{"a", "b", "c"} {
			p, err := registry.New(name, policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)}})
			require.NoError(t, err)
			for range 2 {
				go execute(t.Context(), p, deaf)
			}
		}
		synctest.Wait()
		assert.Equal(t, points{"bulkhead=a": 1, "bulkhead=_OTHER": 2}, metrics.points("bulkhead.running"))
		assert.Equal(t, points{"bulkhead=a": 1, "bulkhead=_OTHER": 2}, metrics.points("bulkhead.queued"))
		time.Sleep(time.Hour)
	})
}
