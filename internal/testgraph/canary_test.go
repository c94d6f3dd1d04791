package testgraph

// The canary tests assert what the library relies on in gqlgen, with
// hand-written middleware instead of the library. One that fails tells which
// fact about gqlgen has changed, and so which part of the library to look at.

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

type markKey struct{}

// marked returns ctx with a mark by which it is recognised further down.
func marked(ctx context.Context, mark string) context.Context {
	return context.WithValue(ctx, markKey{}, mark)
}

func markOf(ctx context.Context) string {
	mark, _ := ctx.Value(markKey{}).(string)
	return mark
}

// aroundField makes a field middleware of one for a single field.
func aroundField(object, name string, middleware graphql.FieldMiddleware) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		if fc := graphql.GetFieldContext(ctx); fc.Object != object || fc.Field.Name != name {
			return next(ctx)
		}
		return middleware(ctx, next)
	}
}

// stubWithItems resolves the lists and single items of the query.
func stubWithItems(ids ...string) *Stub {
	items := make([]*model.Item, len(ids))
	for i, id := range ids {
		items[i] = &model.Item{ID: id, Name: "item " + id}
	}
	stub := &Stub{}
	stub.QueryResolver.Items = func(context.Context, *int) ([]*model.Item, error) { return items, nil }
	stub.QueryResolver.LatestItems = func(context.Context) ([]*model.Item, error) { return items, nil }
	stub.QueryResolver.StrictItems = func(context.Context) ([]*model.Item, error) { return items, nil }
	stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return items[0], nil }
	stub.QueryResolver.Node = func(context.Context, string) (model.Node, error) { return items[0], nil }
	return stub
}
