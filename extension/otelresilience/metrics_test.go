package otelresilience_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestAFieldsCallsAndAttemptsAreCountedAndTimed(t *testing.T) {
	underEachHook(t, func(t *testing.T, schema func(*testgraph.Stub) graphql.ExecutableSchema) {
		registry := newRegistry(t, policy.Spec{Retry: retry(2)})
		metrics := observe(t, registry)
		attempt := 0
		server := serve(schema(textBy(func(ctx context.Context) (*string, error) {
			if attempt++; attempt == 1 {
				time.Sleep(3 * time.Second)
				return nil, errDown
			}
			return sleep(ctx)
		})), registry)
		response := testgraph.Post(t.Context(), t, server, "{ text }")
		require.Empty(t, response.Errors)

		failure, success := "field=Query.text,outcome=failure,policy=dependency", "field=Query.text,outcome=success,policy=dependency"
		assert.Equal(t, points{failure: 1, success: 1}, metrics.points("attempts"))
		assert.Equal(t, points{failure: 1, success: 1}, metrics.points("attempt.duration"))
		assert.Equal(t, points{failure: 3, success: 1}, metrics.sums("attempt.duration"))
		assert.Equal(t, points{success: 1}, metrics.points("calls"))
		assert.Equal(t, points{success: 5}, metrics.sums("call.duration"), "with the wait of a second")
		assert.Equal(t, points{"field=Query.text,policy=dependency": 1}, metrics.points("retries"))
		for _, name := range []string{"timeouts", "rejections", "fallbacks", "abandoned.attempts"} {
			assert.Empty(t, metrics.points(name), name)
		}
	})
}

func TestTimeoutsAreCountedByWhoseTimeWasUp(t *testing.T) {
	for name, tc := range map[string]struct {
		spec   policy.Spec
		budget extension.Option
	}{
		"attempt":          {spec: policy.Spec{Timeout: timeout(500*time.Millisecond, policy.Cooperative)}},
		"total":            {spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Hour), Total: new(500 * time.Millisecond)}}},
		"operation-budget": {spec: policy.Spec{Retry: retry(2)}, budget: extension.WithOperationBudget(extension.Budget{Timeout: 500 * time.Millisecond})},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, schema func(*testgraph.Stub) graphql.ExecutableSchema) {
				registry := newRegistry(t, tc.spec)
				metrics := observe(t, registry)
				var options []extension.Option
				if tc.budget != nil {
					options = append(options, tc.budget)
				}
				response := testgraph.Post(t.Context(), t, serve(schema(textBy(sleep)), registry, options...), "{ text }")
				require.Len(t, response.Errors, 1)
				assert.Equal(t, points{"field=Query.text,policy=dependency,reason=" + name: 1}, metrics.points("timeouts"))
			})
		})
	}
}

func TestFallbacksAreCountedByWhetherTheyAnswered(t *testing.T) {
	underEachHook(t, func(t *testing.T, schema func(*testgraph.Stub) graphql.ExecutableSchema) {
		registry := newRegistry(t, policy.Spec{Retry: retry(1)})
		metrics := observe(t, registry)
		asked := 0
		server := serve(schema(textBy(fail)), registry, extension.WithFallback("Query.text", func(context.Context, error) (*string, error) {
			if asked++; asked == 1 {
				return nil, errors.New("nor is this")
			}
			return new("flat"), nil
		}))
		for range 3 {
			testgraph.Post(t.Context(), t, server, "{ text }")
		}
		field := "field=Query.text,"
		assert.Equal(t, points{field + "outcome=answered,policy=dependency": 2, field + "outcome=failed,policy=dependency": 1}, metrics.points("fallbacks"))
		assert.Equal(t, points{field + "outcome=fallback,policy=dependency": 2, field + "outcome=failure,policy=dependency": 1}, metrics.points("calls"))
	})
}

// execute runs a call whose error the test is not about.
func execute(ctx context.Context, p *policy.Policy, fn func(context.Context) (*string, error)) {
	_, _ = policy.Execute(ctx, p, fn)
}

func TestRejectionsAreCountedByReason(t *testing.T) {
	for reason, tc := range map[string]struct {
		spec policy.Spec
		busy int // calls that run already
	}{
		"circuit-open":       {spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}}},
		"bulkhead-full":      {spec: policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1)}}, busy: 1},
		"queue-timeout":      {spec: policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1), QueueTimeout: new(time.Second)}}, busy: 1},
		"too-many-abandoned": {spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Enforced), MaxAbandoned: new(1)}}, busy: 1},
		"rate-limited":       {spec: policy.Spec{RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)}}, busy: 1},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := newRegistry(t, tc.spec)
				metrics := observe(t, registry)
				if breaker, ok := registry.CircuitBreaker("dependency"); ok {
					breaker.Trip()
				}
				var running sync.WaitGroup
				for range tc.busy {
					running.Go(func() { execute(t.Context(), dependency(t, registry), deaf) })
				}
				time.Sleep(2 * time.Second)
				execute(t.Context(), dependency(t, registry), succeed)
				assert.Equal(t, points{"field=Job.run,policy=dependency,reason=" + reason: 1}, metrics.points("rejections"))
				assert.Equal(t, 1.0, metrics.points("calls")["field=Job.run,outcome=rejected,policy=dependency"])
				running.Wait()
				require.NoError(t, registry.Wait(t.Context()))
				assert.NotContains(t, metrics.points("attempts"), "field=Job.run,outcome=rejected,policy=dependency")
			})
		})
	}
}

func TestEveryOutcomeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Spec{Timeout: timeout(time.Second, policy.Cooperative)})
		metrics := observe(t, registry)
		p := dependency(t, registry)
		cancelled, cancel := context.WithCancel(t.Context())
		for _, fn := range []func(context.Context) (*string, error){
			succeed, fail, deaf,
			func(context.Context) (*string, error) { return nil, policy.AsClientError(errDown) },
			func(context.Context) (*string, error) { return nil, &policy.Error{Kind: policy.KindBulkheadFull} },
			func(context.Context) (*string, error) { cancel(); return nil, context.Canceled },
		} {
			execute(cancelled, p, fn)
		}
		wanted := points{}
		for _, outcome := range []string{"success", "failure", "timeout", "client-error", "rejected", "cancelled"} {
			wanted["field=Job.run,outcome="+outcome+",policy=dependency"] = 1
		}
		assert.Equal(t, wanted, metrics.points("calls"))
		assert.Equal(t, wanted, metrics.points("attempts"))
	})
}

func TestAPolicyWithoutAFieldHasNoSuchAttribute(t *testing.T) {
	registry := newRegistry(t, policy.Spec{Retry: retry(1)})
	metrics := observe(t, registry)
	execute(t.Context(), dependency(t, registry).WithSource(""), succeed)
	assert.Equal(t, points{"outcome=success,policy=dependency": 1}, metrics.points("calls"))
}
