package extension_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// brokenItems fails wherever the query has lists, items and the like.
func brokenItems(err error) *testgraph.Stub {
	stub := &testgraph.Stub{}
	stub.QueryResolver.Items = func(context.Context, *int) ([]*model.Item, error) { return nil, err }
	stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return nil, err }
	stub.QueryResolver.StrictItem = stub.QueryResolver.Item
	stub.QueryResolver.StrictText = func(context.Context) (string, error) { return "", err }
	stub.QueryResolver.Any = func(context.Context) (any, error) { return nil, err }
	stub.QueryResolver.Node = func(context.Context, string) (model.Node, error) { return nil, err }
	return stub
}

// answerWith is a fallback that answers everything with value.
func answerWith[T any](coordinate string, value T) extension.Option {
	return extension.WithFallback(coordinate, func(context.Context, error) (T, error) { return value, nil })
}

func TestAFallbackAloneAnswersForAFieldWithoutAnnotation(t *testing.T) {
	down := errors.New("down")
	for name, row := range map[string]struct {
		option      extension.Option
		query, want string
	}{
		"a value":         {answerWith("Query.strictText", "cached"), `{ strictText }`, `{"data":{"strictText":"cached"}}`},
		"a pointer":       {answerWith("Query.item", &model.Item{ID: "7"}), `{ item(id: 7) { id } }`, `{"data":{"item":{"id":"7"}}}`},
		"a list":          {answerWith("Query.items", []*model.Item{{ID: "7"}, {ID: "8"}}), `{ items { id } }`, `{"data":{"items":[{"id":"7"},{"id":"8"}]}}`},
		"an empty list":   {answerWith("Query.items", []*model.Item{}), `{ items { id } }`, `{"data":{"items":[]}}`},
		"nil":             {answerWith[any]("Query.item", nil), `{ item(id: 7) { id } }`, `{"data":{"item":null}}`},
		"a typed nil":     {answerWith[*model.Item]("Query.item", nil), `{ item(id: 7) { id } }`, `{"data":{"item":null}}`},
		"a nil list":      {answerWith[[]*model.Item]("Query.items", nil), `{ items { id } }`, `{"data":{"items":null}}`},
		"an interface":    {answerWith[model.Node]("Query.node", &model.Other{ID: "9"}), `{ node(id: 7) { __typename id } }`, `{"data":{"node":{"__typename":"Other","id":"9"}}}`},
		"a nil interface": {answerWith[model.Node]("Query.node", nil), `{ node(id: 7) { id } }`, `{"data":{"node":null}}`},
		"any":             {answerWith[any]("Query.any", map[string]any{"a": 1}), `{ any }`, `{"data":{"any":{"a":1}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := h.protect(brokenItems(down), newRegistry(t, nil), row.option, extension.WithoutDegraded())
				require.Equal(t, row.want, rawPost(t.Context(), t, server, row.query))
			})
		})
	}
}

func TestAFallbackThatFitsNotTheFieldIsTheFieldsError(t *testing.T) {
	for name, row := range map[string]struct {
		option      extension.Option
		query, path string
		says        []string
	}{
		"nil for a non-null field":         {answerWith[any]("Query.strictItem", nil), `{ strictItem(id: 7) { id } }`, "strictItem", nil},
		"a typed nil for a non-null field": {answerWith[*model.Item]("Query.strictItem", nil), `{ strictItem(id: 7) { id } }`, "strictItem", nil},
		"a wrong value in an interface":    {answerWith[any]("Query.items", []string{"7"}), `{ items { id } }`, "items", []string{"[]string", "[]*model.Item"}},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := h.protect(brokenItems(errors.New("down")), newRegistry(t, nil), row.option)
				response := testgraph.Post(t.Context(), t, server, row.query)
				require.Nil(t, response.Data[row.path])
				require.Len(t, response.Errors, 1)
				require.Equal(t, row.path, response.Errors[0].Path.String())
				for _, says := range row.says {
					require.Contains(t, response.Errors[0].Message, says)
				}
			})
		})
	}
}

func TestUseRefusesAFallbackThatItsFieldCanNotHold(t *testing.T) {
	for name, row := range map[string]struct {
		option extension.Option
		want   string // "" for none
	}{
		"elements that are no pointers":     {answerWith("Query.items", []model.Item{}), `WithFallback("Query.items"): returns []model.Item, but the resolver returns []*model.Item`},
		"no list":                           {answerWith("Item.quotes", &model.Quote{}), `WithFallback("Item.quotes"): returns *model.Quote, but the resolver returns []*model.Quote`},
		"a type without the interface":      {answerWith("Query.node", model.Item{}), `WithFallback("Query.node"): returns model.Item, but the resolver returns model.Node`},
		"a type with the interface":         {answerWith("Query.node", &model.Item{}), ""},
		"one item of a batch":               {answerWith("Item.stock", new(7)), ""},
		"all items of a batch":              {answerWith("Item.stock", []*int{new(7)}), `WithFallback("Item.stock"): returns []*int, but the resolver returns *int`},
		"a stream's event":                  {answerWith("Subscription.ticks", &model.Tick{}), `WithFallback("Subscription.ticks"): returns *model.Tick, but the resolver returns <-chan *model.Tick`},
		"anything where the field is any":   {answerWith("Query.any", 7), ""},
		"not what the bound method returns": {answerWith("Guarded.computed", 7), `WithFallback("Guarded.computed"): returns int, but the Go method that it is bound to returns *string`},
		"what the bound method returns":     {answerWith("Guarded.computed", new("cached")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := extension.New(newRegistry(t, nil), row.option).Validate(testgraph.NewSchema(&testgraph.Stub{}))
			if row.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, "gqlresilience:\n"+row.want)
			}
		})
	}
}

func TestChildrenOfAFallbacksValueResolveUnderTheirOwnPolicies(t *testing.T) {
	for name, spec := range map[string]policy.Spec{
		"enforced":    {Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}},
		"cooperative": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Cooperative)}},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				stub := &testgraph.Stub{}
				stub.QueryResolver.Items = func(ctx context.Context, _ *int) ([]*model.Item, error) { return nil, untilCancelled(ctx) }
				stub.ItemResolver.Slow = func(ctx context.Context, item *model.Item) (*string, error) {
					time.Sleep(time.Minute) // longer than the parent's attempt
					return new("slow " + item.ID), ctx.Err()
				}
				stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) { return nil, untilCancelled(ctx) }
				server := h.protect(stub, newRegistry(t, nil), extension.WithField("Query.items", extension.Field{Spec: spec}),
					answerWith("Query.items", []*model.Item{{ID: "7"}}),
					extension.WithField("Item.probe", extension.Field{Spec: spec}), answerWith("Item.probe", new("probed")),
					extension.WithoutDegraded())
				require.Equal(t, `{"data":{"items":[{"slow":"slow 7","probe":"probed"}]}}`,
					rawPost(t.Context(), t, server, `{ items { slow probe } }`))
			})
		})
	}
}

func TestAFallbacksErrorIsTheFieldsAndHasTheOriginalInItsChain(t *testing.T) {
	down, stale := errors.New("down"), &gqlerror.Error{Message: "stale", Extensions: map[string]any{"code": "STALE"}}
	for name, row := range map[string]struct {
		err        error
		message    string
		extensions string
	}{
		"plain":           {errors.New("no cached text"), "no cached text", ""},
		"a GraphQL error": {stale, "stale", `,"extensions":{"code":"STALE"}`},
		"a policy error":  {&policy.Error{Kind: policy.KindBulkheadFull, Policy: "cache"}, "Server is at capacity", `,"extensions":{"code":"BULKHEAD_FULL","httpStatus":503}`},
		"the original":    {down, "down", ""},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := h.protect(textStub(failing(down)), newRegistry(t, nil),
					extension.WithFallback("Query.text", func(_ context.Context, err error) (*string, error) {
						if err != down {
							t.Errorf("the fallback got %v", err)
						}
						return nil, row.err
					}))
				server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
					if !errors.Is(err, down) || !errors.Is(err, row.err) {
						t.Errorf("the presenter got %v", err)
					}
					return graphql.DefaultErrorPresenter(ctx, err)
				})
				require.Equal(t, onTheWire(row.message, row.extensions), rawPost(t.Context(), t, server, `{ text }`))
			})
		})
	}
}

func TestAFallbacksPanicIsTheFieldsPanic(t *testing.T) {
	for name, stub := range map[string]*testgraph.Stub{
		"after an error": textStub(failing(errors.New("down"))),
		"after a panic":  textStub(func(context.Context) (*string, error) { panic("resolver") }),
	} {
		for mode, spec := range map[string]policy.Spec{
			"enforced": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}, "cooperative": {Retry: &policy.RetrySpec{Attempts: new(1)}},
		} {
			if mode == "cooperative" && name == "after a panic" {
				continue // nothing recovers it before gqlgen does
			}
			t.Run(name+" "+mode, func(t *testing.T) {
				underEachHook(t, func(t *testing.T, h hook) {
					server := h.protect(stub, newRegistry(t, nil), underSpec(spec),
						extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { panic("fallback") }))
					require.Equal(t, `{"errors":[{"message":"panic: fallback","path":["text"]}],"data":{"text":null,"__typename":"Query"}}`,
						rawPost(t.Context(), t, server, `{ text __typename }`))
				})
			})
		}
	}
}

func TestAFallbackSeesArgumentsAndParent(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2")
		stub.ItemResolver.QuotesFor = func(context.Context, *model.Item, *int) ([]*model.Quote, error) {
			return nil, errors.New("down")
		}
		server := h.protect(stub, newRegistry(t, nil), extension.WithFallback("Item.quotesFor",
			func(ctx context.Context, _ error) ([]*model.Quote, error) {
				field := graphql.GetFieldContext(ctx)
				parent := *field.Parent.Result.(**model.Item)
				weight := *field.Args["weight"].(*int)
				return []*model.Quote{{Service: fmt.Sprintf("item %s, %d kg", parent.ID, weight)}}, nil
			}), extension.WithoutDegraded())
		require.Equal(t, `{"data":{"items":[{"quotesFor":[{"service":"item 1, 5 kg"}]},{"quotesFor":[{"service":"item 2, 5 kg"}]}]}}`,
			rawPost(t.Context(), t, server, `{ items { quotesFor(weight: 5) { service } } }`))
	})
}

func TestWhatAFallbackAnswersFor(t *testing.T) {
	down, lost := errors.New("down"), errors.New("lost")
	open := &policy.Error{Kind: policy.KindCircuitOpen}
	notFound := &gqlerror.Error{Message: "no such text", Extensions: map[string]any{"code": "NOT_FOUND"}}
	soldOut := &gqlerror.Error{Message: "sold out", Extensions: map[string]any{"code": "SOLD_OUT"}}
	isLost := extension.WhenFunc(func(err error) bool { return errors.Is(err, lost) })
	for name, row := range map[string]struct {
		conditions []extension.FallbackOption
		answered   []error
		passed     []error
	}{
		"by default": {nil, []error{down, open, &policy.ResponseError{Status: 503}, policy.Permanent(down)},
			[]error{notFound, soldOut, policy.AsClientError(down), &policy.ResponseError{Status: 422}, fmt.Errorf("x: %w", notFound)}},
		"when one": {[]extension.FallbackOption{extension.When(policy.ErrCircuitOpen)},
			[]error{open, fmt.Errorf("x: %w", open)}, []error{down, notFound, lost}},
		"when several": {[]extension.FallbackOption{extension.When(policy.ErrCircuitOpen, down)},
			[]error{open, down, fmt.Errorf("x: %w", down)}, []error{lost, notFound, policy.Permanent(lost)}},
		"when a func says so":               {[]extension.FallbackOption{isLost}, []error{lost, policy.AsClientError(lost)}, []error{down, open}},
		"when any of all":                   {[]extension.FallbackOption{isLost, extension.When(down), extension.When(policy.ErrTimeout)}, []error{lost, down}, []error{open, notFound}},
		"even a client's error, when named": {[]extension.FallbackOption{extension.When(notFound)}, []error{notFound}, []error{down}},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				answers := func(err error) bool {
					server := h.protect(textStub(failing(err)), newRegistry(t, nil), extension.WithClientErrorCodes("SOLD_OUT"),
						extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return new("fallback"), nil }, row.conditions...))
					response := testgraph.Post(t.Context(), t, server, `{ text }`)
					require.Equal(t, len(response.Errors) == 0, response.Data["text"] == "fallback", "either a value or an error")
					return len(response.Errors) == 0
				}
				for _, err := range row.answered {
					require.True(t, answers(err), "%v", err)
				}
				for _, err := range row.passed {
					require.False(t, answers(err), "%v", err)
				}
			})
		})
	}
}

func TestNoFallbackForAClientThatIsGone(t *testing.T) {
	for name, conditions := range map[string][]extension.FallbackOption{
		"by default": nil, "whatever it asks for": {extension.WhenFunc(func(error) bool { return true })},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				asked := false
				server := h.protect(textStub(hanging), newRegistry(t, nil), underPreset("Query.text", "dependency"),
					extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { asked = true; return nil, nil }, conditions...))
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				testgraph.Post(ctx, t, server, `{ text }`)
				require.False(t, asked)
			})
		})
	}
}

func TestAResolverThatAddsAnErrorAndReturnsNilIsAnsweredFor(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(func(ctx context.Context) (*string, error) {
			graphql.AddError(ctx, errors.New("down"))
			return nil, nil
		})
		server := h.protect(stub, newRegistry(t, nil), answerWith("Query.text", new("cached")), extension.WithoutDegraded())
		require.Equal(t, `{"data":{"text":"cached"}}`, rawPost(t.Context(), t, server, `{ text }`))
	})
}

func TestAPanicIsAnsweredForWhereThePolicyHasAnEnforcedTimeout(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(func(context.Context) (*string, error) { panic("boom") })
		server := h.protect(stub, newRegistry(t, nil), underPreset("Query.text", "dependency"), answerWith("Query.text", new("cached")),
			extension.WithoutDegraded())
		require.Equal(t, `{"data":{"text":"cached"}}`, rawPost(t.Context(), t, server, `{ text }`))

		server = h.protect(stub, newRegistry(t, nil), answerWith("Query.text", new("cached")))
		response := testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Len(t, response.Errors, 1)
		require.Equal(t, "panic: boom", response.Errors[0].Message, "on gqlgen's own goroutine a panic is gqlgen's to recover")
	})
}

func TestAFallbackAnswersForASubscriptionThatDoesNotStart(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.SubscriptionResolver.Ticks = func(context.Context) (<-chan *model.Tick, error) { return nil, errors.New("down") }
		server := h.protect(stub, newRegistry(t, nil), extension.WithFallback("Subscription.ticks", func(context.Context, error) (<-chan *model.Tick, error) {
			ticks := make(chan *model.Tick, 1)
			ticks <- &model.Tick{N: 5}
			close(ticks)
			return ticks, nil
		}))
		events := testgraph.Stream(t.Context(), t, server, `subscription { ticks { n } }`)
		require.Len(t, events, 1)
		require.Equal(t, map[string]any{"ticks": map[string]any{"n": 5.0}}, events[0].Data)
	})
}

func TestAFallbackAnswersForAllItemsOfABatch(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2")
		stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) { return nil, errors.New("down") }
		fallback := answerWith("Item.stock", new(9))
		if h.guarded {
			fallback = answerWith("Item.stock", []*int{new(9), new(9)})
		}
		server := h.protect(stub, newRegistry(t, nil), fallback, extension.WithoutDegraded())
		require.Equal(t, `{"data":{"items":[{"stock":9},{"stock":9}]}}`, rawPost(t.Context(), t, server, `{ items { stock } }`))
	})
}
