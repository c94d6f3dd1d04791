package extension_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// sleeper resolves Query.items and sleeps through the cancel of the first attempts, beside a
// field that keeps the operation open until they have come to their ends.
func sleeper(attempts *atomic.Int32, sleeps int32, late func(context.Context) error) *testgraph.Stub {
	stub := &testgraph.Stub{}
	stub.QueryResolver.Text = func(context.Context) (*string, error) {
		time.Sleep(2 * time.Minute)
		return new("intact"), nil
	}
	stub.QueryResolver.Items = func(ctx context.Context, _ *int) ([]*model.Item, error) {
		graphql.AddErrorf(ctx, "of an attempt")
		if attempts.Add(1) > sleeps {
			return []*model.Item{{ID: "in time"}}, nil
		}
		time.Sleep(time.Minute)
		graphql.MarkNonNull(ctx)
		return []*model.Item{{ID: "late"}}, late(ctx)
	}
	return stub
}

func TestGuardedResolverThatSleepsThroughItsCancelIsRetriedBesideItself(t *testing.T) {
	for name, late := range lateEnds {
		t.Run("late "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var attempts atomic.Int32
				server, registry := protectSchema(t, testgraph.NewGuardedSchema(sleeper(&attempts, 2, late)),
					specs{"Query.items": breaking(retrying(enforced(time.Second), 3))})
				response := testgraph.Post(t.Context(), t, server, `{ text items { id } }`)
				require.Equal(t, map[string]any{"text": "intact", "items": []any{map[string]any{"id": "in time"}}}, response.Data)
				require.Equal(t, []string{"items: of an attempt"}, messages(response), "the last one's")
				require.Empty(t, response.Extensions)
				require.EqualValues(t, 3, attempts.Load())
				require.Equal(t, 2, failures(t, registry, "Query.items"))
				requireQuiet(t, registry)
			})
		})
	}
}

func TestGuardedResolverThatSleepsThroughItsCancelIsReplacedByItsFallback(t *testing.T) {
	for name, late := range lateEnds {
		t.Run("late "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var attempts atomic.Int32
				server, registry := protectSchema(t, testgraph.NewGuardedSchema(sleeper(&attempts, 2, late)),
					specs{"Query.items": retrying(enforced(time.Second), 2)},
					answerWith("Query.items", []*model.Item{{ID: "fallback"}}), extension.WithoutDegraded())
				require.Equal(t, `{"data":{"text":"intact","items":[{"id":"fallback"}]}}`,
					rawPost(t.Context(), t, server, `{ text items { id } }`))
				require.EqualValues(t, 2, attempts.Load())
				requireQuiet(t, registry)
			})
		})
	}
}

func TestDirectiveOfAGuardedFieldRunsOnceOutsideOfThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checks, attempts := 0, 0
		stub := &testgraph.Stub{}
		stub.HasRole = func(ctx context.Context, _ any, next graphql.Resolver, _ string) (any, error) {
			checks++
			_, limited := ctx.Deadline()
			assert.False(t, limited)
			time.Sleep(time.Minute) // longer than any attempt may take
			return next(ctx)
		}
		stub.QueryResolver.Secret = func(context.Context) (*string, error) {
			if attempts++; attempts == 1 {
				return nil, errDown
			}
			return new("told"), nil
		}
		server, _ := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Query.secret": retrying(enforced(time.Second), 2)})
		require.Equal(t, `{"data":{"secret":"told"}}`, rawPost(t.Context(), t, server, `{ secret }`))
		require.Equal(t, []int{1, 2}, []int{checks, attempts})
	})
}

func TestFailingBatchOfAHundredParentsIsOneCallInItsGuard(t *testing.T) {
	for mode, spec := range map[string]policy.Spec{"enforced": enforced(time.Second), "untimed": untimed()} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ids, want := make([]string, 100), make([]string, 100)
				for i := range ids {
					ids[i], want[i] = fmt.Sprint(i), fmt.Sprintf("items[%d].stock: %v", i, errDown)
				}
				stub := stubOf(ids...)
				server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": permits(retrying(spec, 2))})
				bulkhead, _ := registry.Bulkhead("Item.stock")
				calls := batchOf(stub, func(context.Context, []*int) error {
					assert.Equal(t, 1, bulkhead.Running())
					return errDown
				})
				response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
				require.ElementsMatch(t, want, messages(response))
				require.EqualValues(t, 2, calls.Load(), "one retry")
				breaker, _ := registry.CircuitBreaker("Item.stock")
				require.Equal(t, 2, breaker.Stats().Calls)
				requirePermitsBack(t, registry, "Item.stock", 2)
			})
		})
	}
}

func TestErrorsOfAGuardedBatchAreMappedItemByItem(t *testing.T) {
	full := &policy.Error{Kind: policy.KindBulkheadFull, Policy: "secret"}
	for name, row := range map[string]struct {
		err   error
		paths []string
	}{
		"of one item": {graphql.BatchErrorList{nil, full}, []string{"items[1].stock"}},
		"of all":      {full, []string{"items[0].stock", "items[1].stock"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := stubOf("1", "2")
				batchOf(stub, func(context.Context, []*int) error { return row.err })
				server, _ := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Item.stock": untimed()})
				response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
				var paths []string
				for _, err := range response.Errors {
					paths = append(paths, err.Path.String())
					require.Equal(t, "Server is at capacity", err.Message)
					require.Equal(t, map[string]any{"code": gqlerrors.CodeBulkheadFull, "httpStatus": 503.0}, err.Extensions)
				}
				require.ElementsMatch(t, row.paths, paths)
			})
		})
	}
}

func TestGuardWithoutTheExtensionFailsItsField(t *testing.T) {
	response := testgraph.Post(t.Context(), t, testgraph.Serve(testgraph.NewGuardedSchema(textStub(answering("unprotected")))), `{ text }`)
	require.Equal(t, []string{"text: Query.text is guarded, but runs outside of an operation of a server that uses the resilience extension"}, messages(response))
	require.Equal(t, map[string]any{"text": nil}, response.Data)

	_, err := extension.Guard(t.Context(), "Query.text", answering("outside"))
	require.ErrorContains(t, err, "Query.text is guarded, but runs outside of an operation")
}

func TestGuardedFieldWithoutAPolicyIsJustResolved(t *testing.T) {
	server, _ := protectSchema(t, testgraph.NewGuardedSchema(textStub(func(ctx context.Context) (*string, error) {
		assert.Zero(t, policy.AttemptFromContext(ctx))
		return new("resolved"), nil
	})), nil)
	require.Equal(t, `{"data":{"text":"resolved"}}`, rawPost(t.Context(), t, server, `{ text }`))
}

// Around the guarded resolvers, the extension does not see which fields have guards. It runs
// their policies in the middleware, and the guards keep out of the way.
func TestGuardThatTheExtensionDoesNotSeeRunsNoPolicyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		stub := stubOf("1", "2")
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			attempts++
			assert.Equal(t, attempts, policy.AttemptFromContext(ctx))
			return nil, errDown
		}
		calls := batchOf(stub, func(context.Context, []*int) error { return nil })
		config := testgraph.Config{Resolvers: struct{ testgraph.ResolverRoot }{testgraph.Guard(stub)}}
		server, registry := protectSchema(t, testgraph.NewExecutableSchema(config),
			specs{"Query.text": permits(retrying(enforced(time.Second), 3)), "Item.stock": breaking(untimed())})
		require.Equal(t, []string{"text: " + errDown.Error()}, messages(testgraph.Post(t.Context(), t, server, `{ text items { stock } }`)))
		require.Equal(t, 3, attempts)
		requirePermitsBack(t, registry, "Query.text", 3)
		require.EqualValues(t, 1, calls.Load())
		breaker, _ := registry.CircuitBreaker("Item.stock")
		require.Equal(t, 2, breaker.Stats().Calls, "one for each item")
	})
}

func TestGuardsMayBeCalledFromGoAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := stubOf("1")
		guarded := testgraph.Guard(stub)
		stub.QueryResolver.Timed = func(ctx context.Context) (*string, error) {
			graphql.MarkNonNull(ctx)
			return new("timed"), nil
		}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			graphql.MarkNonNull(ctx)
			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					timed, err := guarded.Query().Timed(ctx)
					assert.NoError(t, err)
					assert.Equal(t, "timed", *timed)
				})
			}
			calls.Wait()
			return new("text"), nil
		}
		server, registry := protectSchema(t, testgraph.NewGuardedSchema(stub), specs{"Query.text": enforced(time.Minute)})
		require.Empty(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors)
		requireQuiet(t, registry)
	})
}

// A resolver that calls another one through its guard gets it with its policy.
func TestGuardMayBeCalledFromGo(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		guarded := testgraph.Guard(stub)
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			text, err := guarded.Query().StrictText(ctx)
			return &text, err
		}
		attempts := 0
		stub.QueryResolver.StrictText = func(ctx context.Context) (string, error) {
			attempts++
			if attempts == 2 {
				return "at last", nil
			}
			return "", untilCancelled(ctx)
		}
		server, registry := protectSchema(t, h.schema(stub), specs{
			"Query.text": permits(enforced(time.Minute)), "Query.strictText": permits(retrying(enforced(time.Second), 2)),
		})
		require.Equal(t, `{"data":{"text":"at last"}}`, rawPost(t.Context(), t, server, `{ text }`))
		requirePermitsBack(t, registry, "Query.text", 0)
		requirePermitsBack(t, registry, "Query.strictText", 1)

		breaker, _ := registry.CircuitBreaker("Query.strictText")
		breaker.Trip()
		require.Equal(t, onTheWire("Service temporarily unavailable", `,"extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":30}`),
			rawPost(t.Context(), t, server, `{ text }`))
	})
}

func TestGuardMayBeCalledOutsideOfAllFields(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		attempts := 0
		server, _ := protectSchema(t, h.schema(textStub(answering("text"))), specs{"Query.strictText": retrying(spec, 2)})
		server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
			text, err := extension.Guard(ctx, "Query.strictText", func(ctx context.Context) (string, error) {
				assert.NotNil(t, graphql.GetFieldContext(ctx))
				if attempts++; attempts == 1 {
					return "", errDown
				}
				return "at last", nil
			})
			assert.NoError(t, err)
			assert.Equal(t, "at last", text)
			return next(ctx)
		})
		require.Equal(t, `{"data":{"text":"text"}}`, rawPost(t.Context(), t, server, `{ text }`))
		require.Equal(t, 2, attempts)
	})
}

func TestFallbackOfAGuardMustHaveTheResolversType(t *testing.T) {
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			server := h.protect(brokenItems(errDown), newRegistry(t, nil), answerWith[any]("Query.item", graphql.Null), extension.WithoutDegraded())
			response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { id } }`)
			require.Equal(t, map[string]any{"item": nil}, response.Data)
			if h.guarded { // it is not gqlgen that gets the value
				require.Len(t, response.Errors, 1)
				require.Contains(t, response.Errors[0].Message, "*model.Item")
			} else {
				require.Empty(t, response.Errors)
			}
		})
	}
}
