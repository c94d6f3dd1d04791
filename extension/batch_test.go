package extension_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// batchOf plugs in one resolver for the stock of all items of a list, and counts its calls.
func batchOf(stub *testgraph.Stub, resolve func(ctx context.Context, stock []*int) error) (calls *atomic.Int32) {
	calls = &atomic.Int32{}
	stub.ItemResolver.Stock = func(ctx context.Context, items []*model.Item) ([]*int, error) {
		calls.Add(1)
		stock := make([]*int, len(items))
		for i := range items {
			stock[i] = &i
		}
		return stock, resolve(ctx, stock)
	}
	stub.ItemResolver.StrictStock = func(ctx context.Context, items []*model.Item) ([]int, error) {
		calls.Add(1)
		return make([]int, len(items)), resolve(ctx, nil)
	}
	return calls
}

func messages(response testgraph.Response) []string {
	var list []string
	for _, err := range response.Errors {
		list = append(list, err.Path.String()+": "+err.Message)
	}
	return list
}

func TestBatchIsResolvedOnceAndItsItemsPassOneByOne(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, spec policy.Spec) {
		stub := stubOf("1", "2", "3")
		calls := batchOf(stub, func(context.Context, []*int) error { return nil })
		server, registry := guard(t, testgraph.NewSchema(stub), specs{"Item.stock": breaking(retrying(spec, 3)), "Item.strictStock": spec})
		response := testgraph.Post(t.Context(), t, server, `{ items { stock again: stock strictStock } }`)
		require.Empty(t, response.Errors)
		want := make([]any, 3)
		for i := range want {
			want[i] = map[string]any{"stock": float64(i), "again": float64(i), "strictStock": 0.0}
		}
		require.Equal(t, map[string]any{"items": want}, response.Data)
		require.EqualValues(t, 3, calls.Load())
		breaker, _ := registry.CircuitBreaker("Item.stock")
		require.Equal(t, 6, breaker.Stats().Calls)
	})
}

// What a batch fails with is memoised, so that another attempt finds it again.
func TestFailedBatchFailsEachItemAndIsNotResolvedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		resolve  func(ctx context.Context, stock []*int) error
		failures int
	}{
		"one error for all":  {func(context.Context, []*int) error { return errDown }, 6},
		"one error per item": {func(context.Context, []*int) error { return graphql.BatchErrorList{errDown, nil, errDown} }, 4},
		"a client's error":   {func(context.Context, []*int) error { return policy.AsClientError(errDown) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, spec policy.Spec) {
				stub := stubOf("1", "2", "3")
				calls := batchOf(stub, test.resolve)
				want := testgraph.Post(t.Context(), t, testgraph.NewServer(stub), `{ items { id stock } }`)
				require.EqualValues(t, 1, calls.Swap(0))

				server, registry := guard(t, testgraph.NewSchema(stub), specs{"Item.stock": breaking(retrying(spec, 2))})
				response := testgraph.Post(t.Context(), t, server, `{ items { id stock } }`)
				require.Equal(t, want.Data, response.Data)
				require.ElementsMatch(t, messages(want), messages(response))
				require.EqualValues(t, 1, calls.Load())
				require.Equal(t, test.failures, failures(t, registry, "Item.stock"))
			})
		})
	}
}

func TestFallbackAnswersForTheItemsThatABatchFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := stubOf("1", "2", "3")
		batchOf(stub, func(context.Context, []*int) error { return graphql.BatchErrorList{nil, errDown, nil} })
		server, _ := guard(t, testgraph.NewSchema(stub), specs{"Item.stock": enforced(time.Second)},
			extension.WithFallback("Item.stock", func(context.Context, error) (*int, error) { return new(99), nil }))
		response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"items": []any{
			map[string]any{"stock": 0.0}, map[string]any{"stock": 99.0}, map[string]any{"stock": 2.0},
		}}, response.Data)
	})
}

// The items of a batch wait for it on a mutex, which keeps a bubble's clock from moving. So
// these tests use the real one, and end the batch only when all fields have ended without it.
func serveAbandonedBatch(t *testing.T, field string, late func(context.Context) error) (testgraph.Response, *policy.Registry, *atomic.Int32) {
	t.Helper()
	stub := stubOf("1", "2", "3")
	end := make(chan struct{})
	calls := batchOf(stub, func(ctx context.Context, _ []*int) error {
		<-end
		return late(ctx)
	})
	server := testgraph.NewServer(stub)
	var fields sync.WaitGroup
	fields.Add(3)
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		if graphql.GetFieldContext(ctx).Field.Name == field {
			defer fields.Done()
		}
		return next(ctx)
	})
	registry := guardServer(t, server, specs{"Item." + field: breaking(retrying(enforced(50*time.Millisecond), 3))})
	stub.QueryResolver.Text = func(ctx context.Context) (*string, error) { // keeps the operation open
		fields.Wait()
		close(end)
		return nil, registry.Wait(ctx)
	}
	response := testgraph.Post(t.Context(), t, server, `{ text items { id `+field+` } }`)
	require.Zero(t, registry.Abandoned())
	return response, registry, calls
}

func TestAbandonedBatchEndsEachItsItems(t *testing.T) {
	for name, late := range lateEnds {
		t.Run("late "+name, func(t *testing.T) {
			response, registry, calls := serveAbandonedBatch(t, "stock", late)
			require.Equal(t, map[string]any{"text": nil, "items": []any{
				map[string]any{"id": "1", "stock": nil}, map[string]any{"id": "2", "stock": nil}, map[string]any{"id": "3", "stock": nil},
			}}, response.Data)
			require.ElementsMatch(t, []string{
				"items[0].stock: The operation timed out", "items[1].stock: The operation timed out", "items[2].stock: The operation timed out",
			}, messages(response))
			require.Empty(t, response.Extensions)
			require.LessOrEqual(t, calls.Load(), int32(1))
			require.Equal(t, 3, failures(t, registry, "Item.stock"))
		})
	}
}

func TestAbandonedBatchOfNonNullItemsTakesTheirParentsAlong(t *testing.T) {
	for name, late := range lateEnds {
		t.Run("late "+name, func(t *testing.T) {
			response, _, calls := serveAbandonedBatch(t, "strictStock", late)
			require.Equal(t, map[string]any{"text": nil, "items": nil}, response.Data)
			require.Len(t, response.Errors, 3)
			require.LessOrEqual(t, calls.Load(), int32(1))
		})
	}
}

func TestPanicOfABatchFailsEachItem(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, spec policy.Spec) {
		stub := stubOf("1", "2", "3")
		batchOf(stub, func(context.Context, []*int) error { panic("boom") })
		server := testgraph.NewServer(stub)
		panics := recoveredPanics(server)
		registry := guardServer(t, server, specs{"Item.stock": breaking(spec)})
		response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
		require.Len(t, response.Errors, 3)
		require.Len(t, panics.list(), 1)
		require.Equal(t, 3, failures(t, registry, "Item.stock"))
	})
}
