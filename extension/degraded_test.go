package extension_test

import (
	"context"
	"errors"
	"net/http"
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

func TestAResponseTellsWhichFieldsFallbacksAnswered(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2", "3")
		stub.ItemResolver.Slow = func(_ context.Context, item *model.Item) (*string, error) {
			switch item.ID {
			case "1":
				return nil, errDown
			case "2":
				return new("fine"), nil
			default:
				return nil, &gqlerror.Error{Message: "later", Extensions: map[string]any{"code": "LATER"}}
			}
		}
		stub.QueryResolver.Text = answering("live")
		registry := newRegistry(t, nil)
		server := h.protect(stub, registry, extension.WithField("Query.text", extension.Field{Spec: breaking(untimed())}),
			answerWith("Query.text", new("cached")), answerWith("Item.slow", new("cached")))

		require.Nil(t, testgraph.Post(t.Context(), t, server, `{ text items { id } }`).Extensions, "nothing was degraded")

		breaker, _ := registry.CircuitBreaker("Query.text")
		breaker.Trip()
		response := testgraph.Post(t.Context(), t, server, `{ text items { s: slow id } again: items { slow } }`)
		require.Empty(t, response.Errors)
		entry := func(code string, path ...any) any { return map[string]any{"path": path, "code": code} }
		require.Equal(t, map[string]any{"degraded": []any{
			entry("INTERNAL", "again", 0.0, "slow"), entry("LATER", "again", 2.0, "slow"),
			entry("INTERNAL", "items", 0.0, "s"), entry("LATER", "items", 2.0, "s"),
			entry("CIRCUIT_OPEN", "text"),
		}}, response.Extensions)
	})
}

func TestAFallbackThatFailsDegradesNothing(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		for name, failure := range map[string]error{"by itself": errors.New("no cache"), "by declining": policy.ErrNoFallback} {
			server := h.protect(textStub(failing(errDown)), newRegistry(t, nil),
				extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return nil, failure }))
			response := testgraph.Post(t.Context(), t, server, `{ text }`)
			require.Len(t, response.Errors, 1, name)
			require.Nil(t, response.Extensions, name)
		}
	})
}

func TestABatchThatItsFallbackAnswersIsDegradedForEachItem(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2")
		stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) { return nil, errDown }
		stub.QueryResolver.Nodes = func(context.Context) ([]model.Node, error) {
			return []model.Node{&model.Other{ID: "8"}, &model.Item{ID: "9"}}, nil
		}
		fallback := answerWith("Item.stock", new(7))
		if h.guarded {
			fallback = extension.WithFallback("Item.stock", func(ctx context.Context, _ error) ([]*int, error) { return []*int{new(7), new(7)}, nil })
		}
		server := h.protect(stub, newRegistry(t, nil), fallback)
		response := testgraph.Post(t.Context(), t, server, `{ items { stock } }`)
		require.Empty(t, response.Errors)
		entry := func(path ...any) any { return map[string]any{"path": path, "code": "INTERNAL"} }
		require.Equal(t, []any{entry("items", 0.0, "stock"), entry("items", 1.0, "stock")}, response.Extensions["degraded"])
		require.Equal(t, []any{map[string]any{"stock": 7.0}, map[string]any{"stock": 7.0}}, response.Data["items"])

		if h.guarded {
			fallback = extension.WithFallback("Item.stock", func(ctx context.Context, _ error) ([]*int, error) { return []*int{new(7)}, nil })
		}
		server = h.protect(stub, newRegistry(t, nil), fallback)
		response = testgraph.Post(t.Context(), t, server, `{ nodes { ... on Item { stock } } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, []any{entry("nodes", 1.0, "stock")}, response.Extensions["degraded"])
	})
}

func TestEachEventOfASubscriptionTellsWhatIsDegradedInIt(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.SubscriptionResolver.Ticks = ticksTo(3)
		stub.TickResolver.Detail = func(_ context.Context, tick *model.Tick) (*string, error) {
			if tick.N == 1 {
				return nil, errDown
			}
			return new("live"), nil
		}
		server := h.protect(stub, newRegistry(t, nil), answerWith("Tick.detail", new("cached")))
		events := testgraph.Stream(t.Context(), t, server, `subscription { ticks { detail } }`)
		require.Len(t, events, 3)
		require.Nil(t, events[0].Extensions)
		require.Equal(t, []any{map[string]any{"path": []any{"detail"}, "code": "INTERNAL"}}, events[1].Extensions["degraded"])
		require.Nil(t, events[2].Extensions)
	})
}

func TestTheFirstEventTellsThatAFallbackAnsweredForTheStart(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.SubscriptionResolver.Ticks = func(context.Context) (<-chan *model.Tick, error) { return nil, errDown }
		server := h.protect(stub, newRegistry(t, nil), extension.WithFallback("Subscription.ticks",
			func(ctx context.Context, _ error) (<-chan *model.Tick, error) { return ticksTo(2)(ctx) }))
		events := testgraph.Stream(t.Context(), t, server, `subscription { ticks { n } }`)
		require.Len(t, events, 2)
		require.Equal(t, []any{map[string]any{"path": []any{"ticks"}, "code": "INTERNAL"}}, events[0].Extensions["degraded"])
		require.Nil(t, events[1].Extensions)
	})
}

func TestAFieldThatCanNotTakeItsFallbacksValueIsNotDegraded(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.protect(brokenItems(errDown), newRegistry(t, nil), answerWith[any]("Query.item", 5))
		response := testgraph.Post(t.Context(), t, server, `{ item(id: 1) { id } }`)
		require.Len(t, response.Errors, 1)
		require.Nil(t, response.Extensions)
	})
}

func TestAFallbackMayAddAnErrorBesideItsValue(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.protect(textStub(failing(errDown)), newRegistry(t, nil),
			extension.WithFallback("Query.text", func(ctx context.Context, _ error) (*string, error) {
				graphql.AddErrorf(ctx, "an older one")
				return new("cached"), nil
			}))
		response := testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Equal(t, "cached", response.Data["text"])
		require.Len(t, response.Errors, 1)
		require.Equal(t, []any{map[string]any{"path": []any{"text"}, "code": "INTERNAL"}}, response.Extensions["degraded"])
	})
}

func TestAnOperationWithinAnotherIsItsOwn(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		var server http.Handler
		var inner testgraph.Response
		calls := 0
		stub := textStub(func(context.Context) (*string, error) {
			calls++
			return nil, errDown
		})
		stub.MutationResolver.Save = func(ctx context.Context, _ *int) (*string, error) {
			inner = testgraph.Post(ctx, t, server, `{ text }`)
			return new("saved"), nil
		}
		server = h.protect(stub, newRegistry(t, nil), underSpec(retrying(enforced(time.Second), 3)), answerWith("Query.text", new("cached")))
		outer := testgraph.Post(t.Context(), t, server, `mutation { save }`)
		require.Nil(t, outer.Extensions)
		require.Equal(t, []any{map[string]any{"path": []any{"save", "text"}, "code": "INTERNAL"}}, inner.Extensions["degraded"],
			"with the path that gqlgen gives it, which goes on from the outer field's")
		require.Equal(t, 3, calls, "it is a query, which may be retried")
	})
}

func TestTwoExtensionsOfOneServerTellTogetherWhatIsDegraded(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(failing(errDown))
		stub.QueryResolver.Any = func(context.Context) (any, error) { return nil, errDown }
		registry := newRegistry(t, nil)
		server := h.server(stub)
		server.Use(extension.New(registry, answerWith("Query.text", new("cached"))))
		server.Use(extension.New(registry, answerWith[any]("Query.any", "cached")))
		response := testgraph.Post(t.Context(), t, server, `{ text any }`)
		require.Equal(t, []any{
			map[string]any{"path": []any{"any"}, "code": "INTERNAL"}, map[string]any{"path": []any{"text"}, "code": "INTERNAL"},
		}, response.Extensions["degraded"])
	})
}

func TestAnExtensionOfTheServersOwnOfThatNameStays(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(failing(errDown))
		stub.QueryResolver.Any = func(ctx context.Context) (any, error) {
			graphql.RegisterExtension(ctx, "degraded", "by the weather")
			return "any", nil
		}
		server := h.protect(stub, newRegistry(t, nil), answerWith("Query.text", new("cached")))
		response := testgraph.Post(t.Context(), t, server, `{ any text }`)
		require.Equal(t, map[string]any{"degraded": "by the weather"}, response.Extensions)
	})
}

func TestAServerNeedNotTellWhatIsDegraded(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.protect(textStub(failing(errDown)), newRegistry(t, nil), answerWith("Query.text", new("cached")), extension.WithoutDegraded())
		require.Equal(t, `{"data":{"text":"cached"}}`, rawPost(t.Context(), t, server, `{ text }`))
	})
}
