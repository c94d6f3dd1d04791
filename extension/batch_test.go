package extension_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"

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

// oneAtATime lets the items of a batch pass one after the other. In a bubble they would stop its
// clock: gqlgen makes them wait for a batch on a mutex.
func oneAtATime(server *handler.Server, field string) {
	turn := make(chan struct{}, 1)
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		if graphql.GetFieldContext(ctx).Field.Name == field {
			turn <- struct{}{}
			defer func() { <-turn }()
		}
		return next(ctx)
	})
}

func messages(response testgraph.Response) []string {
	var list []string
	for _, err := range response.Errors {
		list = append(list, err.Path.String()+": "+err.Message)
	}
	return list
}

func TestHealthyBatchIsResolvedOnce(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1", "2", "3")
		calls := batchOf(stub, func(context.Context, []*int) error { return nil })
		server, registry := protectSchema(t, h.schema(stub), specs{"Item.stock": breaking(retrying(spec, 3)), "Item.strictStock": spec})
		response := testgraph.Post(t.Context(), t, server, `{ items { stock again: stock strictStock } }`)
		require.Empty(t, response.Errors)
		want := make([]any, 3)
		for i := range want {
			want[i] = map[string]any{"stock": float64(i), "again": float64(i), "strictStock": 0.0}
		}
		require.Equal(t, map[string]any{"items": want}, response.Data)
		require.EqualValues(t, 3, calls.Load())
		breaker, _ := registry.CircuitBreaker("Item.stock")
		if h.guarded {
			require.Equal(t, 2, breaker.Stats().Calls, "a batch is one call")
		} else {
			require.Equal(t, 6, breaker.Stats().Calls, "each item is a call")
		}
	})
}

// In the middleware, what a batch fails with is memoised, so that another attempt finds it again.
// In its guard a batch is one call, which is made again.
func TestFailedBatchFailsEachItem(t *testing.T) {
	for name, test := range map[string]struct {
		resolve           func(ctx context.Context, stock []*int) error
		failures          int // in the middleware
		calls, ofTheGuard int
	}{
		"one error for all":  {func(context.Context, []*int) error { return errDown }, 6, 2, 2},
		"one error per item": {func(context.Context, []*int) error { return graphql.BatchErrorList{errDown, nil, errDown} }, 4, 2, 2},
		"a client's error":   {func(context.Context, []*int) error { return policy.AsClientError(errDown) }, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
				stub := stubOf("1", "2", "3")
				calls := batchOf(stub, test.resolve)
				want := testgraph.Post(t.Context(), t, testgraph.NewServer(stub), `{ items { id stock } }`)
				require.EqualValues(t, 1, calls.Swap(0))

				server, registry := protectSchema(t, h.schema(stub), specs{"Item.stock": breaking(retrying(spec, 2))})
				response := testgraph.Post(t.Context(), t, server, `{ items { id stock } }`)
				require.Equal(t, want.Data, response.Data)
				require.ElementsMatch(t, messages(want), messages(response))
				if h.guarded {
					require.EqualValues(t, test.calls, calls.Load())
					require.Equal(t, test.ofTheGuard, failures(t, registry, "Item.stock"))
					return
				}
				require.EqualValues(t, 1, calls.Load())
				require.Equal(t, test.failures, failures(t, registry, "Item.stock"))
			})
		})
	}
}

func TestFallbackAnswersForTheItemsThatABatchFailed(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2", "3")
		batchOf(stub, func(context.Context, []*int) error { return graphql.BatchErrorList{nil, errDown, nil} })
		fallback, want := answerWith("Item.stock", new(99)), []float64{0, 99, 2}
		if h.guarded { // it answers for the whole batch
			fallback, want = answerWith("Item.stock", []*int{new(7), new(8), new(9)}), []float64{7, 8, 9}
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Item.stock": enforced(time.Second)}, fallback)
		response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"items": []any{
			map[string]any{"stock": want[0]}, map[string]any{"stock": want[1]}, map[string]any{"stock": want[2]},
		}}, response.Data)
	})
}

// The items of a batch wait for it on a mutex, which keeps a bubble's clock from moving. So
// these tests use the real one, and end the batch only when all fields have ended without it.
func serveAbandonedBatch(t *testing.T, h hook, field string, late func(context.Context) error) (testgraph.Response, *policy.Registry, *atomic.Int32) {
	t.Helper()
	stub := stubOf("1", "2", "3")
	end := make(chan struct{})
	calls := batchOf(stub, func(ctx context.Context, _ []*int) error {
		<-end
		return late(ctx)
	})
	server := h.server(stub)
	var fields sync.WaitGroup
	fields.Add(3)
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		if graphql.GetFieldContext(ctx).Field.Name == field {
			defer fields.Done()
		}
		return next(ctx)
	})
	registry := protectServer(t, server, specs{"Item." + field: breaking(retrying(enforced(50*time.Millisecond), 3))})
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
		for hooked, h := range hooks {
			t.Run("late "+name+"/"+hooked, func(t *testing.T) {
				response, registry, calls := serveAbandonedBatch(t, h, "stock", late)
				require.Equal(t, map[string]any{"text": nil, "items": []any{
					map[string]any{"id": "1", "stock": nil}, map[string]any{"id": "2", "stock": nil}, map[string]any{"id": "3", "stock": nil},
				}}, response.Data)
				require.ElementsMatch(t, []string{
					"items[0].stock: The operation timed out", "items[1].stock: The operation timed out", "items[2].stock: The operation timed out",
				}, messages(response))
				require.Empty(t, response.Extensions)
				require.Equal(t, 3, failures(t, registry, "Item.stock"), "attempts at the batch, or its items")
				if h.guarded {
					require.EqualValues(t, 3, calls.Load())
				} else {
					require.LessOrEqual(t, calls.Load(), int32(1))
				}
			})
		}
	}
}

func TestAbandonedBatchOfNonNullItemsTakesTheirParentsAlong(t *testing.T) {
	for name, late := range lateEnds {
		for hooked, h := range hooks {
			t.Run("late "+name+"/"+hooked, func(t *testing.T) {
				response, _, calls := serveAbandonedBatch(t, h, "strictStock", late)
				require.Equal(t, map[string]any{"text": nil, "items": nil}, response.Data)
				require.Len(t, response.Errors, 3)
				if h.guarded {
					require.EqualValues(t, 3, calls.Load())
				} else {
					require.LessOrEqual(t, calls.Load(), int32(1))
				}
			})
		}
	}
}

// In the middleware, what looks like the results of a batch is the result of one item.
func TestAnItemOfABatchMayBeAListItself(t *testing.T) {
	stub := stubOf("1", "2", "3")
	batchOf(stub, func(context.Context, []*int) error { return nil })
	server, registry := protectSchema(t, testgraph.NewSchema(stub), specs{"Item.stock": breaking(enforced(time.Second))})
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		value, err := next(ctx)
		if graphql.GetFieldContext(ctx).Field.Name == "stock" {
			return graphql.Array{graphql.MarshalInt(7)}, err
		}
		return value, err
	})
	response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
	require.Empty(t, response.Errors)
	require.Equal(t, map[string]any{"stock": []any{7.0}}, response.Data["items"].([]any)[1])
	require.Zero(t, failures(t, registry, "Item.stock"))
}

func TestPanicOfABatchFailsEachItem(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1", "2", "3")
		batchOf(stub, func(context.Context, []*int) error { panic("boom") })
		server := h.server(stub)
		panics := recoveredPanics(server)
		registry := protectServer(t, server, specs{"Item.stock": breaking(spec)})
		response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
		require.Len(t, response.Errors, 3)
		require.Len(t, panics.list(), 1)
		if h.guarded {
			require.Equal(t, 1, failures(t, registry, "Item.stock"))
		} else {
			require.Equal(t, 3, failures(t, registry, "Item.stock"))
		}
	})
}
