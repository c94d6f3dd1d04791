package extension_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// budgeted returns a server with that budget, policies for fields, and a registry to look at.
func budgeted(t testing.TB, h hook, stub *testgraph.Stub, budget extension.Budget, fields specs, options ...extension.Option) (*handler.Server, *policy.Registry) {
	t.Helper()
	return protectSchema(t, h.schema(stub), fields, append(options, extension.WithOperationBudget(budget))...)
}

// withHeader gives each request a header.
func withHeader(server http.Handler, name, value string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(name, value)
		server.ServeHTTP(w, r)
	})
}

func TestEveryFieldEndsWithTheOperationsTimeAndWhatIsReadyIsReturned(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.QueryResolver.Text = hanging  // under a policy of a minute
		stub.QueryResolver.Timed = hanging // annotated with 500ms
		stub.QueryResolver.Annotated = func(ctx context.Context, _ *int) ([]*model.Item, error) { return nil, untilCancelled(ctx) }
		stub.QueryResolver.Any = func(ctx context.Context) (any, error) { return nil, untilCancelled(ctx) } // no policy
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { return hanging(ctx) }
		server, registry := budgeted(t, h, stub, extension.Budget{Timeout: time.Second},
			specs{"Query.text": breaking(retrying(enforced(time.Minute), 3))}, extension.WithClientErrorCodes("X"))
		began := time.Now()
		response := testgraph.Post(t.Context(), t, server, `{ item(id: 1) { id slow } text timed annotated { id } any }`)
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, map[string]any{
			"item": map[string]any{"id": "1", "slow": nil}, "text": nil, "timed": nil, "annotated": nil, "any": nil,
		}, response.Data)
		paths := map[string]bool{}
		for _, err := range response.Errors {
			requireTimeoutError(t, err, err.Path.String())
			paths[err.Path.String()] = true
		}
		require.Equal(t, map[string]bool{"item.slow": true, "text": true, "timed": true, "annotated": true, "any": true}, paths)
		require.Zero(t, failures(t, registry, "Query.text"), "that the operation took too long says nothing about the dependency")
	})
}

func TestAFallbackAnswersForAFieldThatIsOutOfTime(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.QueryResolver.Items = func(ctx context.Context, _ *int) ([]*model.Item, error) { return nil, untilCancelled(ctx) }
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { return new("slow"), nil }
		server, _ := budgeted(t, h, stub, extension.Budget{Timeout: time.Second}, specs{"Query.items": enforced(time.Minute)},
			answerWith("Query.items", []*model.Item{{ID: "9"}}))
		response := testgraph.Post(t.Context(), t, server, `{ items { id slow } }`)
		require.Equal(t, map[string]any{"items": []any{map[string]any{"id": "9", "slow": nil}}}, response.Data)
		requireTimeout(t, response, "items[0].slow") // begun when there was no time left
		require.Equal(t, []any{map[string]any{"path": []any{"items"}, "code": "TIMEOUT"}}, response.Extensions["degraded"])
	})
}

func TestDeferredFieldsShareTheOperationsTime(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { return hanging(ctx) }
		server, _ := budgeted(t, h, stub, extension.Budget{Timeout: time.Second}, specs{"Item.slow": enforced(time.Minute)})
		began := time.Now()
		responses := testgraph.PostDeferred(t.Context(), t, server, `{ item(id: 1) { id ... @defer { slow } } }`)
		require.Equal(t, time.Second, time.Since(began))
		require.Len(t, responses, 2)
		requireTimeout(t, responses[1], "item.slow")
	})
}

func TestMutationsThatAreOutOfTimeAreNotMade(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.MutationResolver.Save = func(ctx context.Context, _ *int) (*string, error) { return hanging(ctx) }
		stub.MutationResolver.Remove = func(context.Context, *int) (*string, error) {
			t.Error("removed")
			return nil, nil
		}
		server, _ := budgeted(t, h, stub, extension.Budget{Timeout: time.Second}, nil)
		response := testgraph.Post(t.Context(), t, server, `mutation { save remove }`)
		require.Len(t, response.Errors, 2)
		requireTimeoutError(t, response.Errors[0], "save")
		requireTimeoutError(t, response.Errors[1], "remove")
	})
}

func TestARequestMayShortenTheOperationsTime(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server, _ := budgeted(t, h, textStub(hanging), extension.Budget{Timeout: 10 * time.Second, Header: "X-Time-Left"}, nil)
		for name, row := range map[string]struct {
			header string
			told   time.Duration // by the context; 0: none
			want   time.Duration
		}{
			"by a header":               {"1.5s", 0, 1500 * time.Millisecond},
			"by the context":            {"", 2 * time.Second, 2 * time.Second},
			"the shorter of both":       {"1s", 2 * time.Second, time.Second},
			"but not prolong it":        {"1m", time.Hour, 10 * time.Second},
			"to nothing":                {"0s", 0, 0},
			"to nothing by the context": {"", -time.Second, 0},
			"or say nothing":            {"", 0, 10 * time.Second},
		} {
			t.Log(name)
			ctx := t.Context()
			if row.told != 0 {
				ctx = extension.ContextWithBudget(ctx, row.told)
			}
			began := time.Now()
			requireTimeout(t, testgraph.Post(ctx, t, withHeader(server, "x-time-left", row.header), `{ text }`), "text")
			require.Equal(t, row.want, time.Since(began), name)
		}
	})
}

func TestABudgetOfTheRequestAloneLimitsToo(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(func(ctx context.Context) (*string, error) {
			if _, limited := policy.RemainingTime(ctx); limited {
				return nil, untilCancelled(ctx)
			}
			return new("no limit"), nil
		})
		server, _ := budgeted(t, h, stub, extension.Budget{Header: "X-Time-Left"}, nil)
		require.Equal(t, `{"data":{"text":"no limit"}}`, rawPost(t.Context(), t, server, `{ text }`))
		requireTimeout(t, testgraph.Post(t.Context(), t, withHeader(server, "X-Time-Left", "1s"), `{ text }`), "text")
	})
}

func TestAHeaderThatIsNoDurationFailsTheOperation(t *testing.T) {
	server, _ := budgeted(t, hook{}, &testgraph.Stub{}, extension.Budget{Header: "X-Time-Left"}, nil)
	for _, value := range []string{"1500", "soon", "-1s"} {
		response := testgraph.Post(t.Context(), t, withHeader(server, "X-Time-Left", value), `{ text }`)
		require.Nil(t, response.Data)
		require.Len(t, response.Errors, 1)
		require.Equal(t, fmt.Sprintf(`header X-Time-Left: %q is not a duration such as "1.5s"`, value), response.Errors[0].Message)
		require.Equal(t, "BAD_USER_INPUT", response.Errors[0].Extensions["code"])
	}
}

func TestTheRetriesOfAListAreBounded(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		var calls atomic.Int64
		stub := stubOf("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			calls.Add(1)
			return nil, errDown
		}
		server, _ := budgeted(t, h, stub, extension.Budget{Retries: new(4)}, specs{"Item.slow": retrying(untimed(), 3)})
		for range 2 { // each operation has its own
			calls.Store(0)
			response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
			require.Len(t, response.Errors, 10)
			require.EqualValues(t, 10+4, calls.Load())
		}
	})
}

func TestAListWaitsForItsTurnsAndLeavesRoomForOtherOperations(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		ids := make([]string, 40)
		for i := range ids {
			ids[i] = fmt.Sprint(i)
		}
		stub := stubOf(ids...)
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			time.Sleep(time.Second)
			return new("done"), nil
		}
		server, registry := budgeted(t, h, stub, extension.Budget{Concurrency: 4},
			specs{"Item.slow": {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(5)}}})
		bulkhead, _ := registry.Bulkhead("Item.slow")
		began := time.Now()
		var requests sync.WaitGroup
		requests.Go(func() {
			require.Empty(t, testgraph.Post(t.Context(), t, server, `{ items { slow } }`).Errors, "a long list is not refused")
			require.Equal(t, 10*time.Second, time.Since(began))
		})
		synctest.Wait()
		require.Equal(t, 4, bulkhead.Running())
		require.Empty(t, testgraph.Post(t.Context(), t, server, `{ item(id: 1) { slow } }`).Errors)
		requests.Wait()
	})
}

func TestEachEventOfASubscriptionHasABudgetOfItsOwn(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.SubscriptionResolver.Ticks = func(ctx context.Context) (<-chan *model.Tick, error) {
			ticks := make(chan *model.Tick)
			go func() {
				defer close(ticks)
				for n := range 3 {
					time.Sleep(time.Minute) // longer than the budget
					ticks <- &model.Tick{N: n}
				}
			}()
			return ticks, nil
		}
		stub.TickResolver.Detail = func(ctx context.Context, tick *model.Tick) (*string, error) {
			if tick.N == 1 {
				return nil, untilCancelled(ctx)
			}
			time.Sleep(time.Second / 2)
			return new("in time"), ctx.Err()
		}
		server, _ := budgeted(t, h, stub, extension.Budget{Timeout: time.Second}, specs{"Tick.detail": enforced(time.Minute)})
		events := testgraph.Stream(t.Context(), t, server, `subscription { ticks { detail } }`)
		require.Len(t, events, 3)
		require.Empty(t, events[0].Errors)
		requireTimeout(t, events[1], "detail") // gqlgen leaves out the root field
		require.Empty(t, events[2].Errors)
	})
}

func TestABudgetOfAnotherExtensionTakesNoPolicyAway(t *testing.T) {
	limit := extension.WithOperationBudget(extension.Budget{Timeout: 10 * time.Second})
	policies := underSpec(retrying(breaking(enforced(time.Minute)), 3))
	for name, order := range map[string][2]extension.Option{"budget first": {limit, policies}, "policy first": {policies, limit}} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				calls, hang := 0, false
				server := h.server(textStub(func(ctx context.Context) (*string, error) {
					calls++
					if hang {
						return nil, untilCancelled(ctx)
					}
					return nil, errDown
				}))
				for _, option := range order {
					server.Use(extension.New(newRegistry(t, nil), option))
				}
				testgraph.Post(t.Context(), t, server, `{ text }`)
				require.Equal(t, 3, calls)

				hang = true
				began := time.Now()
				requireTimeout(t, testgraph.Post(t.Context(), t, server, `{ text }`), "text")
				require.Equal(t, 10*time.Second, time.Since(began))
			})
		})
	}
}

func TestMistakesInABudgetAreFoundAtBoot(t *testing.T) {
	schema := testgraph.NewSchema(&testgraph.Stub{})
	require.Equal(t, `gqlresilience:
WithOperationBudget: Timeout: -1s: must not be negative
WithOperationBudget: Retries: -2: must not be negative
WithOperationBudget: Concurrency: -3: must not be negative
WithOperationBudget: Header: " X": must be the name of a header, such as "X-Time-Left"`,
		use(t, schema, extension.New(newRegistry(t, nil), extension.WithOperationBudget(extension.Budget{
			Timeout: -time.Second, Retries: new(-2), Concurrency: -3, Header: " X",
		}))))
	require.Equal(t, "gqlresilience:\nWithOperationBudget: limits nothing\nWithOperationBudget: given twice",
		use(t, schema, extension.New(newRegistry(t, nil),
			extension.WithOperationBudget(extension.Budget{}), extension.WithOperationBudget(extension.Budget{Timeout: 1}))))
}

func TestABudgetsHeaderMustBeOneThatARequestCanHave(t *testing.T) {
	for header, valid := range map[string]bool{"X-Time-Left": true, "x_time~1": true, "X Time": false, "X:": false, "X\nY": false, "Zeit-Übrig": false, "(x)": false} {
		err := extension.New(newRegistry(t, nil), extension.WithOperationBudget(extension.Budget{Header: header})).
			Validate(testgraph.NewSchema(&testgraph.Stub{}))
		require.Equal(t, valid, err == nil, header)
	}
}

func TestAnErrorOutOfTimeNamesItsFieldForTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown string
		server := testgraph.NewServer(textStub(hanging))
		registry := protectServer(t, server, nil, extension.WithOperationBudget(extension.Budget{Timeout: time.Second}))
		registry.Subscribe(func(_ context.Context, e policy.Event) { shown = fmt.Sprint(e.Kind, " ", e.Source, " ", e.Reason) })
		response := testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Equal(t, gqlerrors.CodeTimeout, response.Errors[0].Extensions["code"])
		require.Equal(t, "timeout Query.text operation budget", shown)
	})
}
