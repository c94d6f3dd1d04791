package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// presentedErrors makes a server's presenter add what it is called with to the answer.
func presentedErrors(t testing.TB, server *handler.Server) *notes[string] {
	calls := &notes[string]{}
	server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
		assert.NoError(t, ctx.Err())
		assert.Zero(t, policy.AttemptFromContext(ctx))
		place := fmt.Sprint(graphql.GetPath(ctx), " ", ctx.Value(requestKey{}))
		calls.add(place + ": " + err.Error())
		presented := graphql.DefaultErrorPresenter(ctx, err)
		presented.Extensions = map[string]any{"presentedAt": place, "isDown": errors.Is(err, errDown)}
		return presented
	})
	return calls
}

// What a resolver reports beside its result arrives as if there were no extension.
func TestAddedErrorsAndExtensionsArriveAsWithoutTheExtension(t *testing.T) {
	for name, test := range map[string]struct {
		query   string
		resolve func(ctx context.Context) (fails bool)
	}{
		"one error and nil": {`{ items { id } }`, func(ctx context.Context) bool {
			graphql.AddError(ctx, errDown)
			return true
		}},
		"several errors and nil": {`{ alias: items { id } text }`, func(ctx context.Context) bool {
			graphql.AddErrorf(ctx, "first")
			graphql.AddError(context.WithValue(ctx, requestKey{}, "derived"), fmt.Errorf("second: %w", errDown))
			graphql.AddError(ctx, &gqlerror.Error{Message: "third", Extensions: map[string]any{"code": "THIRD"}})
			graphql.AddError(ctx, gqlerror.List{{Message: "fourth"}, {Message: "fifth"}})
			graphql.RegisterExtension(ctx, "trace", 17)
			return true
		}},
		"several errors and nil for non-null": {`{ strictItems { id } }`, func(ctx context.Context) bool {
			graphql.AddErrorf(ctx, "first")
			graphql.AddErrorf(ctx, "second")
			return true
		}},
		"nil for non-null and no error": {`{ strictItems { id } }`, func(ctx context.Context) bool { return true }},
		"a value and errors": {`{ strictItems { id } text }`, func(ctx context.Context) bool {
			graphql.AddErrorf(ctx, "partial")
			graphql.AddErrorf(ctx, "partial")
			return false
		}},
		"a value and an extension": {`{ items { id } text }`, func(ctx context.Context) bool {
			graphql.RegisterExtension(ctx, "trace", map[string]any{"calls": 2})
			return false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
				stub := stubOf("1")
				resolve := func(ctx context.Context) ([]*model.Item, error) {
					if test.resolve(ctx) {
						return nil, nil
					}
					return []*model.Item{{ID: "1"}}, nil
				}
				stub.QueryResolver.Items = func(ctx context.Context, _ *int) ([]*model.Item, error) { return resolve(ctx) }
				stub.QueryResolver.StrictItems = resolve
				stub.QueryResolver.Text = func(context.Context) (*string, error) { return new("intact"), nil }
				plain := testgraph.NewServer(stub)
				wantCalls := presentedErrors(t, plain)
				want := rawPost(requestContext(t), t, plain, test.query)

				for attempts := 1; attempts <= 3; attempts++ {
					server := h.server(stub)
					calls := presentedErrors(t, server)
					protectServer(t, server, specs{"Query.items": retrying(spec, attempts), "Query.strictItems": retrying(spec, attempts)})
					require.Equal(t, want, rawPost(requestContext(t), t, server, test.query))
					require.ElementsMatch(t, wantCalls.list(), calls.list())
				}
			})
		})
	}
}

func TestResolverThatAddsAnErrorAndReturnsNilHasFailed(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		attempts := 0
		stub := stubOf("1")
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			attempts++
			graphql.AddErrorf(ctx, "attempt %d: %w", attempts, errDown)
			return nil, nil
		}
		var given error
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.item": breaking(retrying(spec, 3))},
			extension.WithFallback("Query.item", func(_ context.Context, err error) (*model.Item, error) {
				given = err
				return &model.Item{ID: "fallback"}, nil
			}))
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { id } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"item": map[string]any{"id": "fallback"}}, response.Data)
		require.Equal(t, 3, attempts)
		require.ErrorIs(t, given, errDown)
		require.ErrorContains(t, given, "attempt 3")
		require.Equal(t, 3, failures(t, registry, "Query.item"))
	})
}

func TestAddedErrorsAreClassifiedLikeReturnedOnes(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		attempts := 0
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			attempts++
			graphql.AddErrorf(ctx, "beside it")
			graphql.AddError(ctx, &gqlerror.Error{Message: "no such text", Extensions: map[string]any{"code": "NOT_FOUND"}})
			return nil, nil
		}
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.text": breaking(retrying(enforced(time.Second), 3))})
		require.Len(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors, 2)
		require.Equal(t, 1, attempts)
		require.Zero(t, failures(t, registry, "Query.text"))
	})
}

func TestResolverThatAddsAnErrorBesideAValueHasSucceeded(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		attempts := 0
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			attempts++
			graphql.AddError(ctx, errDown)
			return new("partial"), nil
		}
		server := h.server(stub)
		calls := presentedErrors(t, server)
		registry := protectServer(t, server, specs{"Query.text": breaking(retrying(spec, 3))})
		response := testgraph.Post(requestContext(t), t, server, `{ text }`)
		require.Equal(t, map[string]any{"text": "partial"}, response.Data)
		require.Len(t, response.Errors, 1)
		require.Equal(t, 1, attempts)
		require.Equal(t, []string{"text of the request: input: text " + errDown.Error()}, calls.list())
		require.Zero(t, failures(t, registry, "Query.text"))
	})
}

func TestWhatTheLastAttemptReportsBesideItsErrorIsReported(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		attempts := 0
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			attempts++
			graphql.AddErrorf(ctx, "beside it in attempt %d", attempts)
			return nil, errDown
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.text": retrying(spec, 2)})
		response := testgraph.Post(requestContext(t), t, server, `{ text }`)
		require.Equal(t, []string{"text: beside it in attempt 2", "text: " + errDown.Error()}, messages(response))
	})
}

func TestWhatIsReportedBesideAnotherPolicysErrorIsReported(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.text": spec})
		other, err := registry.New("other", policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
		require.NoError(t, err)
		breaker, _ := registry.CircuitBreaker("other")
		breaker.Trip()
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			graphql.AddErrorf(ctx, "beside it")
			return policy.Execute(ctx, other, func(context.Context) (*string, error) { return nil, nil })
		}
		response := testgraph.Post(requestContext(t), t, server, `{ text }`)
		require.Equal(t, []string{"text: beside it", "text: Service temporarily unavailable"}, messages(response))
	})
}

func TestWhatWasReportedIsNotWhereAFallbackFailsForIt(t *testing.T) {
	for name, resolve := range map[string]func(context.Context) (*string, error){
		"beside an error": failing(errDown), "alone": func(context.Context) (*string, error) { return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
				server, _ := protectSchema(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
					graphql.AddErrorf(ctx, "beside it")
					return resolve(ctx)
				})), specs{"Query.text": spec}, extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return nil, errors.New("no cache") }))
				require.Equal(t, []string{"text: no cache"}, messages(testgraph.Post(t.Context(), t, server, `{ text }`)))
			})
		})
	}
}

func TestWhatAnAttemptReportedThatRunsOnAfterAClientIsNotReported(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server, registry := protectSchema(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
			graphql.AddErrorf(ctx, "beside it")
			time.Sleep(time.Minute)
			return nil, nil
		})), specs{"Query.text": enforced(time.Minute)})
		ctx, disconnect := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, disconnect)
		require.Equal(t, []string{"text: context canceled"}, messages(testgraph.Post(ctx, t, server, `{ text }`)))
		requireQuiet(t, registry)
	})
}

func TestErrorsAndExtensionsOfFailedAttemptsVanish(t *testing.T) {
	for name, fail := range map[string]func(context.Context) (*string, error){
		"an error":  func(context.Context) (*string, error) { return nil, errDown },
		"nil":       func(context.Context) (*string, error) { return nil, nil },
		"a timeout": func(ctx context.Context) (*string, error) { return new("late"), untilCancelled(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
				stub := &testgraph.Stub{}
				var seen []bool
				stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
					attempt := policy.AttemptFromContext(ctx)
					fc := graphql.GetFieldContext(ctx)
					seen = append(seen, graphql.HasFieldError(ctx, fc))
					graphql.RegisterExtension(ctx, "attempt", attempt)
					if attempt == 3 {
						return new("at last"), nil
					}
					graphql.RegisterExtension(ctx, fmt.Sprint("attempt", attempt), true)
					graphql.AddErrorf(ctx, "attempt %d", attempt)
					assert.True(t, graphql.HasFieldError(ctx, fc))
					assert.Len(t, graphql.GetFieldErrors(ctx, fc), 1)
					assert.Len(t, graphql.GetErrors(ctx), 1)
					return fail(ctx)
				}
				server := h.server(stub)
				calls := presentedErrors(t, server)
				protectServer(t, server, specs{"Query.text": retrying(spec, 3)})
				response := testgraph.Post(requestContext(t), t, server, `{ text }`)
				require.Equal(t, map[string]any{"text": "at last"}, response.Data)
				require.Empty(t, response.Errors)
				require.Equal(t, map[string]any{"attempt": 3.0}, response.Extensions)
				require.Empty(t, calls.list())
				require.Equal(t, []bool{false, false, false}, seen)
			})
		})
	}
}

func TestFirstExtensionOfAKeyWins(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			graphql.RegisterExtension(ctx, "both", "resolver")
			graphql.RegisterExtension(ctx, "own", "resolver")
			return new("text"), nil
		}
		server := h.server(stub)
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			graphql.RegisterExtension(ctx, "both", "middleware")
			return next(ctx)
		})
		protectServer(t, server, specs{"Query.text": enforced(time.Second)})
		response := testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"both": "middleware", "own": "resolver"}, response.Extensions)
	})
}

func TestWhatIsAddedAfterTheAttemptReachesTheResponse(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		added := make(chan struct{})
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			graphql.AddErrorf(ctx, "within the attempt")
			go func() {
				defer close(added)
				time.Sleep(5 * time.Second)
				graphql.AddErrorf(ctx, "after the attempt")
				graphql.RegisterExtension(ctx, "late", true)
			}()
			return &model.Item{ID: "1"}, nil
		}
		stub.ItemResolver.Probe = func(context.Context, *model.Item) (*string, error) {
			<-added
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec})
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { probe } }`)
		require.Len(t, response.Errors, 2)
		for i, want := range []string{"within the attempt", "after the attempt"} {
			require.Equal(t, want, response.Errors[i].Message)
			require.Equal(t, "item", response.Errors[i].Path.String())
		}
		require.Equal(t, map[string]any{"late": true}, response.Extensions)
	})
}

// healthyStub resolves every field, a guarded one like one that is not.
func healthyStub() *testgraph.Stub {
	stub := stubOf("1", "2", "3")
	item := &model.Item{ID: "1", Name: "one"}
	other := &model.Other{ID: "4", Label: "four"}
	stub.QueryResolver.LatestItems = func(context.Context) ([]*model.Item, error) { return []*model.Item{item, item}, nil }
	stub.QueryResolver.StrictItems = stub.QueryResolver.LatestItems
	stub.QueryResolver.StrictItemsBy = func(context.Context, *int) ([]*model.Item, error) { return []*model.Item{}, nil }
	stub.QueryResolver.Annotated = func(context.Context, *int) ([]*model.Item, error) { return nil, nil }
	stub.QueryResolver.Any = func(context.Context) (any, error) { return map[string]any{"deep": []any{1, "two", nil}}, nil }
	stub.QueryResolver.AnyBy = func(_ context.Context, n *int) (any, error) { return *n, nil }
	stub.QueryResolver.StrictAny = func(context.Context) (any, error) { return true, nil }
	stub.QueryResolver.StrictAnyBy = func(_ context.Context, n *int) (any, error) { return *n, nil }
	stub.QueryResolver.Text = func(context.Context) (*string, error) { return nil, nil }
	stub.QueryResolver.StrictText = func(context.Context) (string, error) { return "<&>", nil }
	stub.QueryResolver.Timed = func(context.Context) (*string, error) { return new("timed"), nil }
	stub.QueryResolver.Secret = func(context.Context) (*string, error) { return new("secret"), nil }
	stub.QueryResolver.SecretItems = stub.QueryResolver.LatestItems
	stub.QueryResolver.Nodes = func(context.Context) ([]model.Node, error) { return []model.Node{item, other}, nil }
	stub.QueryResolver.Found = func(context.Context) (model.Found, error) { return other, nil }
	stub.QueryResolver.Settings = func(context.Context) (*model.Settings, error) { return &model.Settings{Theme: "dark"}, nil }
	stub.QueryResolver.Guarded = func(context.Context) (*model.Guarded, error) {
		return &model.Guarded{Plain: "plain", ComputeFunc: func(context.Context) (*string, error) { return new("computed"), nil }}, nil
	}
	stub.GuardedResolver.Resolved = func(context.Context, *model.Guarded) (*string, error) { return new("resolved"), nil }
	stub.ItemResolver.Slow = func(_ context.Context, item *model.Item) (*string, error) { return &item.ID, nil }
	stub.ItemResolver.Probe = stub.ItemResolver.Slow
	stub.OtherResolver.Slow = func(context.Context, *model.Other) (*string, error) { return nil, nil }
	stub.ItemResolver.Quotes = func(context.Context, *model.Item) ([]*model.Quote, error) {
		return []*model.Quote{{Service: "air", Price: 4.99}, {Service: "sea"}}, nil
	}
	stub.ItemResolver.QuotesFor = func(context.Context, *model.Item, *int) ([]*model.Quote, error) { return nil, nil }
	stub.ItemResolver.StrictQuotes = stub.ItemResolver.Quotes
	stub.QuoteResolver.Eta = func(_ context.Context, quote *model.Quote) (*string, error) { return &quote.Service, nil }
	stub.ItemResolver.Detail = func(context.Context, *model.Item) (*model.Detail, error) { return &model.Detail{Text: "detail"}, nil }
	stub.DetailResolver.Note = func(context.Context, *model.Detail) (*string, error) { return new("note"), nil }
	stub.DetailResolver.StrictNote = func(context.Context, *model.Detail) (string, error) { return "strict", nil }
	stub.DetailResolver.Related = func(context.Context, *model.Detail) ([]*model.Item, error) { return []*model.Item{item}, nil }
	stub.ItemResolver.Stock = func(_ context.Context, items []*model.Item) ([]*int, error) {
		stock := make([]*int, len(items))
		for i := range items {
			stock[i] = &i
		}
		return stock, nil
	}
	stub.ItemResolver.StrictStock = func(_ context.Context, items []*model.Item) ([]int, error) { return make([]int, len(items)), nil }
	stub.MutationResolver.Save = func(_ context.Context, n *int) (*string, error) { return new(fmt.Sprint(*n)), nil }
	stub.MutationResolver.Confirm = func(context.Context, *int) (bool, error) { return true, nil }
	stub.MutationResolver.Create = func(_ context.Context, name string) (*model.Item, error) { return &model.Item{Name: name}, nil }
	stub.MutationResolver.Book = func(_ context.Context, ref string) (*string, error) { return &ref, nil }
	stub.MutationResolver.Remove = func(context.Context, *int) (*string, error) { return nil, nil }
	return stub
}

const broadQuery = `query Broad($n: Int = 7) {
	items(n: $n) { ...item detail { text note strictNote related { ...item } } }
	latestItems { ...item } strictItems { id } strictItemsBy(n: 2) { id } annotated { id }
	item(id: "1") { ...item stock } strictItem(id: "2") { __typename name }
	any anyBy(n: 1) strictAny strictAnyBy(n: $n) text strictText timed secret secretItems { id }
	node(id: "1") { __typename id slow } nodes { id slow ... on Item { ...item } ... on Other { label } }
	found { ... on Other { label again: slow } ... on Item { id } }
	settings { theme limits } guarded { resolved computed plain }
	__schema { queryType { name } } __typename
	... on Query { more: strictText }
}
fragment item on Item {
	id name slow probe twice: slow stock strictStock quotesFor(weight: 3) { price }
	quotes { service price eta } strictQuotes { eta @skip(if: true) price }
}`

func TestHealthyResolversAnswerAsWithoutTheExtension(t *testing.T) {
	for name, query := range map[string]string{
		"query":    broadQuery,
		"mutation": `mutation { save(n: 1) remove confirm create(name: "new") { id name slow } book(ref: "r") again: save(n: 2) }`,
		"spread":   `query { ...all } fragment all on Query { timed strictText }`,
		"typename": `{ __typename }`,
	} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
				stub := healthyStub()
				want := rawPost(t.Context(), t, testgraph.NewServer(stub), query)
				require.NotContains(t, want, "errors")
				for _, schema := range []graphql.ExecutableSchema{h.schema(stub), h.noPanicSchema(stub)} {
					server := testgraph.Serve(schema)
					fields := everyField(schema, breaking(retrying(spec, 3)))
					registry := protectServer(t, server, fields)
					require.Equal(t, want, rawPost(t.Context(), t, server, query))
					passed := 0
					for coordinate := range fields {
						breaker, _ := registry.CircuitBreaker(coordinate)
						passed += breaker.Stats().Calls
					}
					require.Equal(t, query == `{ __typename }`, passed == 0, "no field ran under a policy")
					require.Zero(t, registry.Abandoned())
				}
			})
		})
	}
}

// everyField gives the same policy to every field that can have one.
func everyField(schema graphql.ExecutableSchema, spec policy.Spec) specs {
	all := specs{}
	for _, name := range []string{"Query", "Mutation", "Item", "Other", "Quote", "Detail", "Guarded"} {
		for _, field := range schema.Schema().Types[name].Fields {
			if !strings.HasPrefix(field.Name, "__") && field.Directives.ForName("resilience") == nil {
				all[name+"."+field.Name] = spec
			}
		}
	}
	return all
}
