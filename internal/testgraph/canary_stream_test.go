package testgraph

import (
	"context"
	"errors"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

// threeTicks returns a stream that ends after three events.
func threeTicks(context.Context) (<-chan *model.Tick, error) {
	ticks := make(chan *model.Tick, 3)
	for n := range 3 {
		ticks <- &model.Tick{N: n}
	}
	close(ticks)
	return ticks, nil
}

func TestFact8SubscriptionPassesOnceAndItsChildrenPerEvent(t *testing.T) {
	stub := &Stub{}
	stub.SubscriptionResolver.Ticks = threeTicks
	stub.TickResolver.Detail = func(context.Context, *model.Tick) (*string, error) { return nil, nil }
	server := NewServer(stub)
	passes := make(map[string]int)
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		fc := graphql.GetFieldContext(ctx)
		passes[fc.Object+"."+fc.Field.Name]++
		return next(ctx)
	})
	Stream(t.Context(), t, server, `subscription { ticks { detail } }`)
	require.Equal(t, map[string]int{"Subscription.ticks": 1, "Tick.detail": 3}, passes,
		"fact 8: how often a subscription and its children pass the middleware has changed")
}

func TestFact8ChildrenOfASubscriptionRunOnAContextThatLivesAsLongAsTheStream(t *testing.T) {
	stub := &Stub{}
	stub.SubscriptionResolver.Ticks = threeTicks
	var done []<-chan struct{}
	stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) {
		for _, earlier := range done {
			require.NoError(t, notDone(earlier), "fact 8: the context of an event ends with its response")
		}
		done = append(done, ctx.Done())
		return nil, nil
	}
	Stream(t.Context(), t, NewServer(stub), `subscription { ticks { detail } }`)
	require.Len(t, done, 3)
	require.Equal(t, done[0], done[2], "fact 8: each event has a context of its own now")
}

func notDone(done <-chan struct{}) error {
	select {
	case <-done:
		return errors.New("done")
	default:
		return nil
	}
}

// Unlike those of any other field: the context handed to next ends with the
// subscription's start, and its children know nothing of the root field.
func TestFact8ContextHandedToNextDoesNotReachTheChildrenOfASubscription(t *testing.T) {
	stub := &Stub{}
	var root string
	var child *graphql.FieldContext
	var childMark string
	server := NewServer(stub)
	server.AroundFields(aroundField("Subscription", "ticks", func(ctx context.Context, next graphql.Resolver) (any, error) {
		return next(marked(ctx, "start"))
	}))
	stub.SubscriptionResolver.Ticks = func(ctx context.Context) (<-chan *model.Tick, error) {
		root = markOf(ctx)
		return threeTicks(ctx)
	}
	stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) {
		child, childMark = graphql.GetFieldContext(ctx), markOf(ctx)
		return nil, nil
	}
	Stream(t.Context(), t, server, `subscription { ticks { detail } }`)
	require.Equal(t, "start", root)
	require.Empty(t, childMark, "fact 8: the context handed to next reaches the children of a subscription now")
	require.Nil(t, child.Parent, "fact 8: the children of a subscription have its root field as parent now")
	require.Equal(t, "detail", child.Path().String())
}

func TestFact8ErrorsAddedWhileASubscriptionStartsEndIt(t *testing.T) {
	stub := &Stub{}
	stub.SubscriptionResolver.Ticks = func(ctx context.Context) (<-chan *model.Tick, error) {
		graphql.AddErrorf(ctx, "beside the stream")
		graphql.RegisterExtension(ctx, "start", true)
		return threeTicks(ctx)
	}
	events := Stream(t.Context(), t, NewServer(stub), `subscription { ticks { n } }`)
	require.Len(t, events, 1, "fact 8: an error added while a subscription starts no longer ends it")
	require.Nil(t, events[0].Data)
	require.Equal(t, "beside the stream", events[0].Errors[0].Message)
	require.Empty(t, events[0].Extensions, "fact 8: an extension registered while a subscription starts is delivered now")
}

func TestFact10ExtensionsOfADeferredGroupAreLost(t *testing.T) {
	stub := stubWithItems("1")
	stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
		graphql.RegisterExtension(ctx, "probe", true)
		return nil, nil
	}
	server := NewServer(stub)
	require.Equal(t, map[string]any{"probe": true},
		Post(t.Context(), t, server, `{ item(id: "1") { probe } }`).Extensions)
	responses := PostDeferred(t.Context(), t, server, `{ item(id: "1") { ... @defer { probe } } }`)
	require.Len(t, responses, 2)
	for _, response := range responses {
		require.Empty(t, response.Extensions, "fact 10: the extensions of a deferred group are delivered now")
	}
}

// In a schema with @subscriptionContext, subscriptions take another way through
// gqlgen's executor, those without the directive included.
func TestFact8EventContextsMoveChildrenOutOfTheResponseMiddleware(t *testing.T) {
	ownContext := func(ctx context.Context) (<-chan graphql.Event[*model.Product], error) {
		events := make(chan graphql.Event[*model.Product], 1)
		events <- graphql.Event[*model.Product]{Context: marked(ctx, "event"), Value: &model.Product{ID: "1"}}
		close(events)
		return events, nil
	}
	stub := &federated.Stub{}
	stub.SubscriptionResolver.Prices = ownContext
	stub.SubscriptionResolver.PlainPrices = func(context.Context) (<-chan *model.Product, error) {
		products := make(chan *model.Product, 1)
		products <- &model.Product{ID: "1"}
		close(products)
		return products, nil
	}
	for field, want := range map[string]struct {
		order  []string
		errors int
	}{
		"prices":      {order: []string{"child on ", "response on event"}, errors: 0},
		"plainPrices": {order: []string{"child on ", "response on "}, errors: 1},
	} {
		var order []string
		server := Serve(NewFederatedSchema(stub))
		server.AroundFields(aroundField("Product", "price", func(ctx context.Context, _ graphql.Resolver) (any, error) {
			order = append(order, "child on "+markOf(ctx))
			return nil, errors.New("down")
		}))
		server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
			order = append(order, "response on "+markOf(ctx))
			return next(ctx)
		})
		events := Stream(t.Context(), t, server, `subscription { `+field+` { price } }`)
		require.Len(t, events, 1)
		require.Equal(t, want.order, order, "fact 8: the order or contexts of %s have changed", field)
		require.Len(t, events[0].Errors, want.errors,
			"fact 8: whether the errors below an event of %s are delivered has changed", field)
	}
}
