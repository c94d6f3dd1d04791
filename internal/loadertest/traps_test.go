package loadertest

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vikstrous/dataloadgen"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// The tests in this file show what the guide says that happens without its recipe.

func TestTrapTheTimeoutOfTheFirstFieldFailsTheWholeBatch(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: after(300 * time.Millisecond)}
		server, _ := plain(t, schema, d, 3, specs{
			"Item.slow":  {Timeout: timeout(100*time.Millisecond, mode)},
			"Item.probe": {Timeout: timeout(time.Second, mode)},
		}, asGiven)
		response := testgraph.Post(t.Context(), t, server, `{ hasty: item(id: "hasty") { slow } items { probe } }`)
		require.Len(t, response.Errors, 4)
		for _, err := range response.Errors {
			if err.Path.String() == "hasty.slow" {
				require.Equal(t, "The operation timed out", err.Message)
			} else {
				require.Equal(t, "context deadline exceeded", err.Message)
			}
		}
		require.Equal(t, []int{4}, d.sizes())
	})
}

func TestTrapARetryIsAnsweredByTheErrorThatItRetries(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: failingOnce}
		server, _ := plain(t, schema, d, 0, specs{"Item.slow": {Timeout: timeout(time.Second, mode), Retry: attempts(3)}}, asGiven)
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
		require.Len(t, response.Errors, 1)
		require.Equal(t, errDown.Error(), response.Errors[0].Message)
		require.Equal(t, []int{1}, d.sizes(), "three attempts, one call")
	})
}

func TestTrapAFieldThatWaitsForItsBatchIsAbandonedAtEachAttempt(t *testing.T) {
	for name, attempts := range map[string]int{"middleware": 1, "guards": 2} { // guards retry it
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dependency{answer: after(300 * time.Millisecond)}
				server, registry := plain(t, schemas[name], d, 0, hasty(policy.Enforced), context.WithoutCancel)
				response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
				require.Len(t, response.Errors, 1)
				require.Equal(t, "TIMEOUT", response.Errors[0].Extensions["code"])
				require.Equal(t, []int{1}, d.sizes(), "the retry waits for the same batch")
				require.Equal(t, attempts, registry.Abandoned())
				require.NoError(t, registry.Wait(t.Context()))
			})
		})
	}
}

func TestTrapACooperativeFieldTakesAsLongAsItsBatch(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{answer: after(300 * time.Millisecond)}
		server, _ := plain(t, schema, d, 0, hasty(policy.Cooperative), context.WithoutCancel)
		began := time.Now()
		testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
		require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
	})
}

// hasty gives Item.slow two attempts of 100 ms.
func hasty(mode policy.TimeoutMode) specs {
	return specs{"Item.slow": {Timeout: timeout(100*time.Millisecond, mode), Retry: attempts(2)}}
}

func TestTrapABatchOutlivesItsRequest(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{answer: after(time.Hour)}
		server, registry := plain(t, schema, d, 0, specs{"Item.slow": {Timeout: timeout(time.Second, policy.Enforced)}},
			context.WithoutCancel)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		testgraph.Post(ctx, t, server, `{ item(id: "1") { slow } }`)
		time.Sleep(30 * time.Minute)
		require.Equal(t, 1, d.underWay())
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestTrapAFieldsOwnBreakerCountsABatchOnceForEachItem(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: failing}
		server, registry := recipe(t, schema, d, 100, specs{
			"Item.slow": {Timeout: timeout(time.Second, mode), Retry: attempts(3), CircuitBreaker: counting},
		})
		testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.Equal(t, []int{100, 100, 100}, d.sizes())
		calls, failures := counted(t, registry, "Item.slow")
		require.Equal(t, 300, calls)
		require.Equal(t, 300, failures)
	})
}

func TestTrapAFieldsOwnBulkheadSplitsTheBatch(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{}
		server, _ := recipe(t, schema, d, 100, specs{"Item.slow": {
			Timeout: timeout(time.Second, mode), Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(10), MaxQueue: new(90)},
		}})
		response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, d.sizes())
	})
}

func TestTrapAFieldsOwnBreakerProbesWithOneFieldOfABatch(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{}
		server, registry := recipe(t, schema, d, 100, specs{"Item.slow": {
			Timeout: timeout(time.Second, mode), CircuitBreaker: &policy.CircuitBreakerSpec{OpenDuration: new(time.Minute)},
		}})
		breaker, _ := registry.CircuitBreaker("Item.slow")
		breaker.Trip()
		time.Sleep(time.Minute)
		response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.Len(t, response.Errors, 99)
		require.Equal(t, []int{1}, d.sizes())
	})
}

func TestTrapDifferentWaitsScatterTheRetriesOfABatch(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: failingOnce}
		retry := attempts(2)
		var retries atomic.Int64
		retry.Backoff = &policy.BackoffSpec{Func: func(int, error) time.Duration {
			return time.Duration(retries.Add(1)) * 20 * time.Millisecond // longer than the loader collects keys
		}}
		server, _ := recipe(t, schema, d, 10, specs{"Item.slow": {Timeout: timeout(time.Second, mode), Retry: retry}})
		response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, []int{10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, d.sizes())
	})
}

func TestTrapRetriesOfAFieldAndOfItsBatchMultiply(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: failing}
		server, _ := recipe(t, schema, d, 10, specs{"Item.quotes": {Timeout: timeout(time.Second, mode), Retry: attempts(2)}})
		testgraph.Post(t.Context(), t, server, `{ items { quotes { service } } }`)
		require.Len(t, d.calls(), 2*3)
	})
}

func TestTrapAnErrorOfOneKeyRetriesTheWholeBatch(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{answer: func(context.Context, int) error {
			return dataloadgen.MappedFetchError[string]{"1": errDown}
		}}
		server, _ := recipe(t, schema, d, 10, nil)
		testgraph.Post(t.Context(), t, server, `{ items { quotes { service } } }`)
		require.Equal(t, []int{10, 10, 10}, d.sizes())
	})
}

func TestTrapFieldsThatRetryOneKeyAskForItTwice(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: failingOnce}
		server, _ := recipe(t, schema, d, 0, specs{"Item.slow": {Timeout: timeout(time.Second, mode), Retry: attempts(2)}})
		response := testgraph.Post(t.Context(), t, server, `{ a: item(id: "1") { slow } b: item(id: "1") { slow } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, [][]string{{"1"}, {"1", "1"}}, d.calls())
	})
}
