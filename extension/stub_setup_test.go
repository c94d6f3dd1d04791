package extension_test

import (
	"context"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

// stubOf resolves Query.item, Query.items and Query.node with items of those ids.
func stubOf(ids ...string) *testgraph.Stub {
	items := make([]*model.Item, len(ids))
	for i, id := range ids {
		items[i] = &model.Item{ID: id, Name: "item " + id}
	}
	stub := &testgraph.Stub{}
	stub.QueryResolver.Items = func(context.Context, *int) ([]*model.Item, error) { return items, nil }
	stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return items[0], nil }
	stub.QueryResolver.StrictItem = func(context.Context, string) (*model.Item, error) { return items[0], nil }
	stub.QueryResolver.Node = func(context.Context, string) (model.Node, error) { return items[0], nil }
	return stub
}

// textStub resolves Query.text, and Mutation.save, with text.
func textStub(text func(context.Context) (*string, error)) *testgraph.Stub {
	stub := &testgraph.Stub{}
	stub.QueryResolver.Text = text
	stub.MutationResolver.Save = func(ctx context.Context, _ *int) (*string, error) { return text(ctx) }
	return stub
}

func answering(text string) func(context.Context) (*string, error) {
	return func(context.Context) (*string, error) { return &text, nil }
}

func failing(err error) func(context.Context) (*string, error) {
	return func(context.Context) (*string, error) { return nil, err }
}

// hanging never answers, but obeys its context.
func hanging(ctx context.Context) (*string, error) { return nil, untilCancelled(ctx) }

// ticksTo makes the resolver of a stream that ends after n events.
func ticksTo(n int) func(context.Context) (<-chan *model.Tick, error) {
	return func(ctx context.Context) (<-chan *model.Tick, error) {
		ticks := make(chan *model.Tick)
		go func() {
			defer close(ticks)
			for i := range n {
				select {
				case ticks <- &model.Tick{N: i}:
				case <-ctx.Done():
					return
				}
			}
		}()
		return ticks, nil
	}
}

// untilCancelled waits, as an obedient resolver does, and returns what its context says.
func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
