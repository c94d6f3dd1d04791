package extension_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

var errNoItem = &gqlerror.Error{Message: "no such item", Extensions: map[string]any{"code": "NOT_FOUND"}}

func TestWhatABatchsItemsFailWithDecidesWhetherItHasFailed(t *testing.T) {
	for name, row := range map[string]struct {
		items    graphql.BatchErrorList
		calls    int // in a guard, where up to two attempts are made
		failures int
		errors   int // of the response
	}{
		"none":                            {graphql.BatchErrorList{nil, nil, nil}, 1, 0, 0},
		"one that does not exist":         {graphql.BatchErrorList{errNoItem, nil, nil}, 1, 0, 1},
		"none exists":                     {graphql.BatchErrorList{errNoItem, errNoItem, errNoItem}, 1, 0, 3},
		"one that failed":                 {graphql.BatchErrorList{nil, errDown, nil}, 2, 2, 1},
		"one that does not exist, others": {graphql.BatchErrorList{errNoItem, errDown, errDown}, 2, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			stub := stubOf("1", "2", "3")
			stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
				calls++
				return []*int{new(0), new(1), new(2)}, row.items
			}
			server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": retrying(breaking(enforced(time.Second)), 2)})
			response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
			require.Equal(t, row.calls, calls)
			require.Equal(t, row.failures, failures(t, registry, "Item.stock"))
			require.Len(t, response.Errors, row.errors)
			for i, item := range row.items {
				stock := response.Data["items"].([]any)[i].(map[string]any)["stock"]
				if item == nil {
					require.Equal(t, float64(i), stock)
				} else {
					require.Nil(t, stock)
				}
			}
		})
	}
}

func TestABatchWithAMissingItemClosesTheCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := stubOf("1", "2")
		stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
			return []*int{nil, new(2)}, graphql.BatchErrorList{errNoItem, nil}
		}
		server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": breaking(enforced(time.Second))})
		breaker, _ := registry.CircuitBreaker("Item.stock")
		breaker.Trip()
		time.Sleep(time.Minute)
		oneAtATime(server, "stock")
		testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
		require.Equal(t, policy.StateClosed, breaker.State())
	})
}

func TestABatchWithTooFewOrTooManyResultsHasFailed(t *testing.T) {
	for _, results := range []int{1, 4} {
		stub := stubOf("1", "2", "3")
		stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) { return make([]*int, results), nil }
		server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": breaking(enforced(time.Second))})
		response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
		require.Len(t, response.Errors, 3)
		require.Contains(t, response.Errors[0].Message, fmt.Sprintf("returned %d results for 3 parents", results), "in gqlgen's own words")
		require.Equal(t, 1, failures(t, registry, "Item.stock"))
	}
}

func TestABatchOfWhichNothingExistsIsTheClientsFault(t *testing.T) {
	for name, row := range map[string]struct {
		items graphql.BatchErrorList
		calls int
	}{
		"one item":  {graphql.BatchErrorList{errNoItem, nil}, 1},
		"all items": {graphql.BatchErrorList{errNoItem, errNoItem}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			stub := stubOf("1", "2")
			calls := batchOf(stub, func(context.Context, []*int) error { return row.items })
			spec := retrying(enforced(time.Second), 2)
			spec.Retry.RetryIf = func(error, int) bool { return true } // which is asked about failures only
			server, _ := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": spec})
			testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
			require.EqualValues(t, row.calls, calls.Load())
		})
	}
}

func TestABatchWithErrorsForOtherItemsThanItsOwnHasFailed(t *testing.T) {
	for name, items := range map[string]graphql.BatchErrorList{"one that is none": {nil}, "none": {}, "too many": {nil, nil, nil, nil}, "a client's": {errNoItem}} {
		t.Run(name, func(t *testing.T) {
			stub := stubOf("1", "2", "3")
			stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
				return []*int{new(1), new(1), new(1)}, items
			}
			server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": breaking(enforced(time.Second))})
			require.Len(t, testgraph.Post(t.Context(), t, server, `{ items { stock } }`).Errors, 3)
			require.Equal(t, 1, failures(t, registry, "Item.stock"))
		})
	}
}

func TestABatchThatIsCalledFromGoAnswersForNoItemOfTheResponse(t *testing.T) {
	stub := stubOf("1", "2", "3")
	guarded := testgraph.Guard(stub)
	stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) { return nil, errDown }
	stub.ItemResolver.Slow = func(ctx context.Context, item *model.Item) (*string, error) {
		if item.ID == "2" {
			_, err := guarded.Item().Stock(ctx, []*model.Item{item})
			return new("used"), err
		}
		return new("fine"), nil
	}
	server, _ := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": enforced(time.Second)},
		answerWith("Item.stock", []*int{new(7)}))
	response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
	require.Equal(t, []any{map[string]any{"path": []any{"items", 1.0, "slow"}, "code": "INTERNAL"}}, response.Extensions["degraded"])
}

func TestABatchThatIsCalledFromGoMayBeOfOtherItemsThanTheLists(t *testing.T) {
	stub := stubOf("1", "2", "3")
	guarded := testgraph.Guard(stub)
	stub.ItemResolver.Stock = func(ctx context.Context, items []*model.Item) ([]*int, error) {
		if policy.AttemptFromContext(ctx) == 1 {
			return nil, errDown
		}
		return make([]*int, len(items)), nil
	}
	stub.ItemResolver.Slow = func(ctx context.Context, item *model.Item) (*string, error) {
		_, err := guarded.Item().Stock(ctx, []*model.Item{item})
		return nil, err
	}
	server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": retrying(breaking(enforced(time.Second)), 2)})
	require.Empty(t, testgraph.Post(t.Context(), t, server, `{ items { slow } }`).Errors)
	require.Equal(t, 3, failures(t, registry, "Item.stock"))
}

func TestTheErrorsOfABatchStayTheResolvers(t *testing.T) {
	full := &policy.Error{Kind: policy.KindBulkheadFull}
	items := graphql.BatchErrorList{nil, full}
	stub := stubOf("1", "2")
	stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) { return []*int{new(1), nil}, items }
	server, _ := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": enforced(time.Second)})
	require.Equal(t, []string{"items[1].stock: Server is at capacity"}, messages(testgraph.Post(t.Context(), t, server, `{ items { stock } }`)))
	require.Equal(t, graphql.BatchErrorList{nil, full}, items, "it may return them again")
}

func TestAnItemsErrorThatIsTheClientsFaultIsMappedToo(t *testing.T) {
	stub := stubOf("1", "2")
	timeout := policy.AsClientError(&policy.Error{Kind: policy.KindTimeout, Policy: "secret"})
	batchOf(stub, func(context.Context, []*int) error { return graphql.BatchErrorList{nil, timeout} })
	server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": breaking(untimed())})
	require.Equal(t, []string{"items[1].stock: The operation timed out"}, messages(testgraph.Post(t.Context(), t, server, `{ items { stock } }`)))
	require.Zero(t, failures(t, registry, "Item.stock"))
}

func TestATimeoutThatABatchSetsItselfIsNotItsGuards(t *testing.T) {
	stub := stubOf("1", "2")
	stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) { return nil, context.DeadlineExceeded }
	server, _ := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": enforced(time.Minute)})
	want := context.DeadlineExceeded.Error()
	require.ElementsMatch(t, []string{"items[0].stock: " + want, "items[1].stock: " + want}, messages(testgraph.Post(t.Context(), t, server, `{ items { stock } }`)))
}

func TestAFallbackAnswersForABatchOfWhichItemsFailed(t *testing.T) {
	stub := stubOf("1", "2")
	stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
		return []*int{nil, nil}, graphql.BatchErrorList{errNoItem, errors.New("down")}
	}
	server, _ := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": enforced(time.Second)},
		answerWith("Item.stock", []*int{new(7), new(8)}))
	response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
	require.Empty(t, response.Errors)
	require.Equal(t, []any{map[string]any{"stock": 7.0}, map[string]any{"stock": 8.0}}, response.Data["items"])
}
