package extension_test

import (
	"cmp"
	"context"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// lateEnds are the ways in which an abandoned resolver may come to its end.
var lateEnds = map[string]func(ctx context.Context) error{
	"value": func(context.Context) error { return nil },
	"error": func(context.Context) error { return errDown },
	"panic": func(context.Context) error { panic("too late") },
	"added errors and extensions": func(ctx context.Context) error {
		graphql.AddErrorf(ctx, "too late")
		graphql.AddError(context.WithValue(ctx, requestKey{}, "derived"), errDown)
		graphql.RegisterExtension(ctx, "late", true)
		return nil
	},
}

// abandonedField is a field whose resolver, stubbed by stub, calls sleep and returns what it
// pleases.
type abandonedField struct {
	coordinate string
	stub       func(stub *testgraph.Stub, sleep func(context.Context) error)
	query      string
	want       map[string]any
	path       string

	markNonNull bool          // an outer middleware marks the field
	directive   bool          // it is the field's directive that sleeps
	ends        time.Duration // default: the timeout and the grace
}

var abandonedFields = map[string]abandonedField{
	"nullable": {
		coordinate: "Query.items", query: `items { id }`, path: "items", want: map[string]any{"items": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.Items = func(ctx context.Context, _ *int) ([]*model.Item, error) {
				return []*model.Item{{ID: "late"}}, sleep(ctx)
			}
		},
	},
	"nullable without arguments": {
		coordinate: "Query.latestItems", query: `latestItems { id }`, path: "latestItems", want: map[string]any{"latestItems": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.LatestItems = func(ctx context.Context) ([]*model.Item, error) { return nil, sleep(ctx) }
		},
	},
	"non-null": {
		coordinate: "Query.strictText", query: `strictText`, path: "strictText", want: nil,
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.StrictText = func(ctx context.Context) (string, error) { return "late", sleep(ctx) }
		},
	},
	"non-null list with arguments": {
		coordinate: "Query.strictItemsBy", query: `strictItemsBy(n: 1) { id }`, path: "strictItemsBy", want: nil,
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.StrictItemsBy = func(ctx context.Context, _ *int) ([]*model.Item, error) {
				return []*model.Item{{ID: "late"}}, sleep(ctx)
			}
		},
	},
	"non-null below the root takes its parent along": {
		coordinate: "Item.strictQuotes", query: `item(id: "1") { strictQuotes { price } }`,
		path: "item.strictQuotes", want: map[string]any{"item": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.ItemResolver.StrictQuotes = func(ctx context.Context, _ *model.Item) ([]*model.Quote, error) {
				return []*model.Quote{{}}, sleep(ctx)
			}
		},
	},
	"nested, under an alias": {
		coordinate: "Detail.note", query: `one: item(id: "1") { detail { two: note } }`,
		path: "one.detail.two", want: map[string]any{"one": map[string]any{"detail": map[string]any{"two": nil}}},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.ItemResolver.Detail = func(context.Context, *model.Item) (*model.Detail, error) { return &model.Detail{}, nil }
			stub.DetailResolver.Note = func(ctx context.Context, _ *model.Detail) (*string, error) { return new("late"), sleep(ctx) }
		},
	},
	"of one element of a list": {
		coordinate: "Item.slow", query: `items { slow }`, path: "items[1].slow",
		want: map[string]any{"items": []any{map[string]any{"slow": "1"}, map[string]any{"slow": nil}, map[string]any{"slow": "3"}}},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.ItemResolver.Slow = func(ctx context.Context, item *model.Item) (*string, error) {
				if item.ID != "2" {
					return &item.ID, nil
				}
				return &item.ID, sleep(ctx)
			}
		},
	},
	"selected through an interface": {
		coordinate: "Item.slow", query: `node(id: "1") { ... on Node { slow } }`,
		path: "node.slow", want: map[string]any{"node": map[string]any{"slow": nil}},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { return new("late"), sleep(ctx) }
		},
	},
	"of an interface type": {
		coordinate: "Query.node", query: `node(id: "1") { id }`, path: "node", want: map[string]any{"node": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.Node = func(ctx context.Context, _ string) (model.Node, error) { return &model.Item{}, sleep(ctx) }
		},
	},
	"marked non-null by an outer middleware": {
		coordinate: "Item.quotes", query: `item(id: "1") { quotes { price } }`, markNonNull: true,
		path: "item.quotes", want: map[string]any{"item": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.ItemResolver.Quotes = func(ctx context.Context, _ *model.Item) ([]*model.Quote, error) { return nil, sleep(ctx) }
		},
	},
	"any": {
		coordinate: "Query.any", query: `any`, path: "any", want: map[string]any{"any": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.Any = func(ctx context.Context) (any, error) { return "late", sleep(ctx) }
		},
	},
	"any with arguments": {
		coordinate: "Query.anyBy", query: `anyBy(n: 1)`, path: "anyBy", want: map[string]any{"anyBy": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.AnyBy = func(ctx context.Context, _ *int) (any, error) { return "late", sleep(ctx) }
		},
	},
	"any marked non-null by an outer middleware": {
		coordinate: "Query.anyBy", query: `anyBy(n: 1)`, path: "anyBy", want: nil, markNonNull: true,
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.AnyBy = func(ctx context.Context, _ *int) (any, error) { return "late", sleep(ctx) }
		},
	},
	"non-null any with arguments": {
		coordinate: "Query.strictAnyBy", query: `strictAnyBy(n: 1)`, path: "strictAnyBy", want: nil,
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.StrictAnyBy = func(ctx context.Context, _ *int) (any, error) { return "late", sleep(ctx) }
		},
	},
	"non-null any whose resolver looks at its context": {
		coordinate: "Query.strictAny", query: `strictAny`, path: "strictAny", want: nil,
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.StrictAny = func(ctx context.Context) (any, error) {
				_ = ctx.Err()
				return "late", sleep(ctx)
			}
		},
	},
	"non-null any whose resolver does not is waited for": {
		coordinate: "Query.strictAny", query: `strictAny`, path: "strictAny", want: nil, ends: time.Minute,
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.QueryResolver.StrictAny = func(ctx context.Context) (any, error) { return "late", sleep(ctx) }
		},
	},
	"whose directive blocks": {
		directive:  true,
		coordinate: "Query.secretItems", query: `secretItems { id }`, path: "secretItems", want: map[string]any{"secretItems": nil},
		stub: func(stub *testgraph.Stub, sleep func(context.Context) error) {
			stub.HasRole = func(ctx context.Context, _ any, next graphql.Resolver, _ string) (any, error) {
				if err := sleep(ctx); err != nil {
					return nil, err
				}
				return next(ctx)
			}
			stub.QueryResolver.SecretItems = func(context.Context) ([]*model.Item, error) { return []*model.Item{{ID: "late"}}, nil }
		},
	},
}

func TestAbandonedAttemptEndsItsFieldWithATimeoutAndChangesNothingLater(t *testing.T) {
	for name, field := range abandonedFields {
		for lateName, late := range lateEnds {
			t.Run(name+"/late "+lateName, func(t *testing.T) {
				underEachHook(t, func(t *testing.T, h hook) { testAbandoned(t, h, field, late) })
			})
		}
	}
}

func testAbandoned(t *testing.T, h hook, field abandonedField, late func(context.Context) error) {
	if h.guarded && field.directive {
		return // it runs outside of the policy: see TestDirectiveOfAGuardedFieldRunsOnceOutsideOfThePolicy
	}
	stub := stubOf("1", "2", "3")
	stub.QueryResolver.Text = func(context.Context) (*string, error) { // keeps the operation open
		time.Sleep(2 * time.Minute)
		return new("intact"), nil
	}
	var attempts, presented atomic.Int32
	field.stub(stub, func(ctx context.Context) error {
		attempts.Add(1)
		time.Sleep(time.Minute)
		return late(ctx)
	})
	server := h.server(stub)
	server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
		presented.Add(1)
		return graphql.DefaultErrorPresenter(ctx, err)
	})
	var took time.Duration
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		if fc := graphql.GetFieldContext(ctx); fc.Path().String() != field.path {
			return next(ctx)
		} else if field.markNonNull {
			fc.NonNull = true
		}
		start := time.Now()
		defer func() { took = time.Since(start) }()
		return next(ctx)
	})
	spec := breaking(retrying(enforced(time.Second), 3))
	asked := 0
	spec.Fallback = &policy.FallbackSpec{Func: func(context.Context, error) (any, error) {
		asked++
		return nil, policy.ErrNoFallback
	}}
	registry := protectServer(t, server, specs{field.coordinate: spec})

	const abandonedAfter = time.Second + 10*time.Millisecond
	ends, made, fallbacks := cmp.Or(field.ends, abandonedAfter), 1, 0
	if h.guarded { // it is retried beside itself, and the fallback may answer
		ends, made, fallbacks = 3*abandonedAfter, 3, 1
	}
	go func() {
		time.Sleep(ends + time.Millisecond)
		if ends < time.Minute {
			assert.Equal(t, made, registry.Abandoned())
		}
	}()
	response := testgraph.Post(t.Context(), t, server, `{ text `+field.query+` }`)
	require.Equal(t, ends, took)
	requireTimeout(t, response, field.path)
	require.Empty(t, response.Extensions)
	if field.want == nil {
		require.Nil(t, response.Data)
	} else {
		want := maps.Clone(field.want)
		want["text"] = "intact"
		require.Equal(t, want, response.Data)
	}
	requireQuiet(t, registry)
	require.EqualValues(t, made, attempts.Load(), "attempts")
	require.Equal(t, fallbacks, asked, "fallbacks")
	require.EqualValues(t, 1, presented.Load(), "errors presented")
	require.Equal(t, made, failures(t, registry, field.coordinate))
}

// A resolver that marks its field and is then abandoned leaves the field null, and its parent
// in place: gqlgen's mark must not be read beside it.
func TestAbandonedResolverMayMarkItsFieldNonNull(t *testing.T) {
	for name, row := range map[string]struct {
		coordinate, query, path string
		want                    map[string]any
	}{
		"a list": {"Item.quotes", `{ item(id: "1") { quotes { price } } }`, "item.quotes", map[string]any{"item": map[string]any{"quotes": nil}}},
		"any":    {"Query.anyBy", `{ anyBy(n: 1) }`, "anyBy", map[string]any{"anyBy": nil}},
	} {
		for _, marksAfter := range []time.Duration{0, time.Minute} {
			t.Run(name+" after "+marksAfter.String(), func(t *testing.T) {
				underEachHook(t, func(t *testing.T, h hook) {
					mark := func(ctx context.Context) {
						time.Sleep(marksAfter)
						graphql.MarkNonNull(ctx)
						time.Sleep(time.Minute)
					}
					stub := stubOf("1")
					stub.ItemResolver.Quotes = func(ctx context.Context, _ *model.Item) ([]*model.Quote, error) { mark(ctx); return nil, nil }
					stub.QueryResolver.AnyBy = func(ctx context.Context, _ *int) (any, error) { mark(ctx); return nil, nil }
					server, registry := protectSchema(t, h.schema(stub), specs{row.coordinate: enforced(time.Second)})
					response := testgraph.Post(t.Context(), t, server, row.query)
					requireTimeout(t, response, row.path)
					require.Equal(t, row.want, response.Data)
					requireQuiet(t, registry)
				})
			})
		}
	}
}
