// Package graph is a GraphQL schema with one field of every kind that costs
// something else: plain data, a resolver without a policy, a resolver with one.
package graph

import "context"

//go:generate go tool gqlgen-resilience

// ID is that of all items.
const ID = "tuna-pate"

// Resolver resolves the schema. The functions are called each time that the field is resolved;
// nil is not allowed for a field that is asked for.
type Resolver struct {
	Probe    func(context.Context)
	Resolved func(context.Context) (*int, error)
	Guarded  func(context.Context) (*int, error)

	items []*Item
}

// NewResolver returns a resolver that has n items to answer with.
func NewResolver(n int) *Resolver {
	items := make([]Item, n)
	r := &Resolver{items: make([]*Item, n)}
	for i := range items {
		items[i].ID = ID
		r.items[i] = &items[i]
	}
	return r
}

// Query implements ResolverRoot.
func (r *Resolver) Query() QueryResolver { return queryResolver{r} }

// Item implements ResolverRoot.
func (r *Resolver) Item() ItemResolver { return itemResolver{r} }

// These fit an interface without an allocation, so that all allocations counted are the library's.
type (
	queryResolver struct{ *Resolver }
	itemResolver  struct{ *Resolver }
)

func (r queryResolver) Items(_ context.Context, n int) ([]*Item, error) { return r.items[:n], nil }

func (r queryResolver) Probe(ctx context.Context) ([]*Item, error) {
	r.Resolver.Probe(ctx)
	return nil, nil
}

func (r itemResolver) Resolved(ctx context.Context, _ *Item) (*int, error) {
	return r.Resolver.Resolved(ctx)
}

func (r itemResolver) Guarded(ctx context.Context, _ *Item) (*int, error) {
	return r.Resolver.Guarded(ctx)
}
