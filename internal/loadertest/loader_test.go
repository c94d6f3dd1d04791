package loadertest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestATimeoutFailsItsOwnFieldAndNotTheBatch(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: after(300 * time.Millisecond)}
		server, registry := recipe(t, schema, d, 3, specs{
			"Item.slow":  {Timeout: timeout(100*time.Millisecond, mode)},
			"Item.probe": {Timeout: timeout(time.Second, mode)},
		})
		response := testgraph.Post(t.Context(), t, server, `{ hasty: item(id: "hasty") { slow } items { probe } }`)
		require.Len(t, response.Errors, 1, "%v", response.Errors)
		require.Equal(t, "hasty.slow", response.Errors[0].Path.String())
		require.Equal(t, "TIMEOUT", response.Errors[0].Extensions["code"])
		require.Equal(t, map[string]any{"hasty": map[string]any{"slow": nil}, "items": []any{
			map[string]any{"probe": "forecast 0"}, map[string]any{"probe": "forecast 1"}, map[string]any{"probe": "forecast 2"},
		}}, response.Data)
		require.Equal(t, [][]string{{"0", "1", "2", "hasty"}}, d.calls(), "one batch")
		require.Zero(t, registry.Abandoned())
	})
}

func TestARetryIsNotAnsweredByTheErrorThatItRetries(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: failingOnce}
		server, _ := recipe(t, schema, d, 3, specs{"Item.slow": {Timeout: timeout(time.Second, mode), Retry: attempts(2)}})
		response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"items": []any{
			map[string]any{"slow": "forecast 0"}, map[string]any{"slow": "forecast 1"}, map[string]any{"slow": "forecast 2"},
		}}, response.Data)
		require.Equal(t, [][]string{items(3), items(3)}, d.calls())
	})
}

func TestARetryDoesNotWaitForTheBatchThatHangs(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: hangingOnce}
		server, registry := recipe(t, schema, d, 0, specs{"Item.slow": {Timeout: timeout(100*time.Millisecond, mode), Retry: attempts(2)}})
		began := time.Now()
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"item": map[string]any{"slow": "forecast 1"}}, response.Data)
		require.Less(t, time.Since(began), 200*time.Millisecond)
		require.Equal(t, [][]string{{"1"}, {"1"}}, d.calls())
		require.Zero(t, registry.Abandoned())

		require.Equal(t, 1, d.underWay(), "the first batch")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Zero(t, d.underWay(), "its limit is over")
	})
}

func TestABatchIsOneCallForThePolicyThatItRunsUnder(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{answer: failing}
		server, registry := recipe(t, schema, d, 100, nil)
		var retries []policy.Event
		registry.Subscribe(func(_ context.Context, e policy.Event) { retries = append(retries, e) })
		response := testgraph.Post(t.Context(), t, server, `{ items { quotes { service } } }`)

		require.Equal(t, [][]string{items(100), items(100), items(100)}, d.calls(), "three attempts, with one slot")
		calls, failures := counted(t, registry, "carrier")
		require.Equal(t, 3, calls)
		require.Equal(t, 3, failures)
		require.Len(t, retries, 2)
		for i, e := range retries {
			require.Equal(t, policy.EventRetry, e.Kind)
			require.Equal(t, "Item.quotes", e.Source)
			require.Equal(t, i+1, e.Attempt)
		}
		paths := map[string]bool{}
		for _, err := range response.Errors {
			require.Equal(t, errDown.Error(), err.Message)
			paths[err.Path.String()] = true
		}
		require.Len(t, paths, 100)
	})
}

func TestABatchUnderAPolicyIsRetriedForAllItsFields(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{answer: failingOnce}
		server, registry := recipe(t, schema, d, 2, nil)
		response := testgraph.Post(t.Context(), t, server, `{ items { quotes { service } } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"items": []any{
			map[string]any{"quotes": []any{map[string]any{"service": "service 0"}}},
			map[string]any{"quotes": []any{map[string]any{"service": "service 1"}}},
		}}, response.Data)
		calls, failures := counted(t, registry, "carrier")
		require.Equal(t, 2, calls)
		require.Equal(t, 1, failures)
	})
}

func TestAnOpenCircuitRejectsABatchOnceAndTellsEachField(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{}
		server, registry := recipe(t, schema, d, 100, nil)
		breaker, _ := registry.CircuitBreaker("carrier")
		breaker.Trip()
		var rejections []policy.EventKind
		registry.Subscribe(func(_ context.Context, e policy.Event) { rejections = append(rejections, e.Kind) })
		response := testgraph.Post(t.Context(), t, server, `{ items { quotes { service } } }`)
		require.Empty(t, d.calls())
		require.Equal(t, []policy.EventKind{policy.EventCircuitRejected}, rejections)
		require.Len(t, response.Errors, 100)
		for _, err := range response.Errors {
			require.Equal(t, "CIRCUIT_OPEN", err.Extensions["code"])
			require.InDelta(t, 30, err.Extensions["retryAfter"], 0)
		}
	})
}

func TestTheProbeOfAPolicyIsAWholeBatch(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{}
		server, registry := recipe(t, schema, d, 100, nil)
		breaker, _ := registry.CircuitBreaker("carrier")
		breaker.Trip()
		time.Sleep(30 * time.Second)
		response := testgraph.Post(t.Context(), t, server, `{ items { quotes { service } } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, []int{100}, d.sizes())
		require.Equal(t, policy.StateClosed, breaker.State())
	})
}

func TestACancelledRequestLeavesNothingRunning(t *testing.T) {
	for name, query := range map[string]string{"field under a policy": `{ items { slow } }`, "batch under a policy": `{ items { quotes { service } } }`} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
				d := &dependency{answer: after(time.Hour)}
				server, registry := recipe(t, schema, d, 10, specs{"Item.slow": {Timeout: timeout(time.Second, mode), Retry: attempts(3)}})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(100*time.Millisecond, cancel)
				began := time.Now()
				testgraph.Post(ctx, t, server, query)
				synctest.Wait()
				require.Equal(t, 100*time.Millisecond, time.Since(began))
				require.Equal(t, []int{10}, d.sizes())
				require.Zero(t, d.underWay())
				require.Zero(t, registry.Abandoned())
				requireNoLoads(t)
			})
		})
	}
}

func TestEachEventOfASubscriptionHasLoadersOfItsOwn(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{}
		server, _ := recipe(t, schema, d, 0, specs{"Tick.detail": {Timeout: timeout(time.Second, mode)}})
		responses := testgraph.Stream(t.Context(), t, server, `subscription { ticks { detail } }`)
		require.Len(t, responses, 2)
		for _, response := range responses {
			require.Empty(t, response.Errors)
			require.Equal(t, map[string]any{"ticks": map[string]any{"detail": "forecast tick"}}, response.Data)
		}
		require.Equal(t, [][]string{{"tick"}, {"tick"}}, d.calls())
	})
}

func TestADeferredFieldUsesTheLoadersOfTheFirstResponse(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{}
		server, _ := recipe(t, schema, d, 0, specs{"Item.slow": {Timeout: timeout(time.Second, mode)}})
		responses := testgraph.PostDeferred(t.Context(), t, server, `{ item(id: "1") { probe ... @defer { slow } } }`)
		require.Len(t, responses, 2)
		require.Equal(t, map[string]any{"slow": "forecast 1"}, responses[1].Data)
		require.Equal(t, [][]string{{"1"}}, d.calls())
	})
}

func TestAKeyWithoutAValueIsNeitherRetriedNorCounted(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{}
		server, registry := recipe(t, schema, d, 1, specs{
			"Item.slow": {Timeout: timeout(time.Second, mode), Retry: attempts(3), CircuitBreaker: counting},
		})
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "unknown") { slow } items { slow } }`)
		require.Len(t, response.Errors, 1)
		require.Equal(t, "item.slow", response.Errors[0].Path.String())
		require.Equal(t, [][]string{{"0", "unknown"}}, d.calls())
		calls, failures := counted(t, registry, "Item.slow")
		require.Equal(t, 1, calls)
		require.Zero(t, failures)
	})
}
