// Package model holds the Go types that the schemas of testgraph are bound to.
package model

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// Node is implemented by pointers to Item and Other.
type Node interface{ IsNode() }

// Found is implemented by pointers to Item and Other.
type Found interface{ IsFound() }

// Item has a plain name; the rest of its fields are resolvers.
type Item struct {
	ID   string
	Name string
}

func (*Item) IsNode()  {}
func (*Item) IsFound() {}

// Other is the second Node, so that a list of nodes mixes types.
type Other struct {
	ID    string
	Label string
}

func (*Other) IsNode()  {}
func (*Other) IsFound() {}

// Filter tells a name that is null from one that is left out.
type Filter struct {
	Name graphql.Omittable[*string]
}

// Quote is plain but for its eta, which is a resolver.
type Quote struct {
	Service string
	Price   float64
}

// Detail is a child object with resolvers of its own.
type Detail struct {
	Text string
}

// Settings is plain data.
type Settings struct {
	Theme  string
	Limits []int
}

// Guarded has a resolver, a bound method and a plain field.
type Guarded struct {
	Plain       string
	ComputeFunc func(ctx context.Context) (*string, error)
}

// Computed is bound to the field of that name.
func (g *Guarded) Computed(ctx context.Context) (*string, error) { return g.ComputeFunc(ctx) }

// Tick is one event of a subscription.
type Tick struct {
	N int
}

// Product is the federated schema's entity.
type Product struct {
	ID    string
	Price int
}

// IsEntity makes Product a federation entity.
func (Product) IsEntity() {}

// Warehouse is the federated schema's entity that is found many at a time.
type Warehouse struct {
	ID string
}

// IsEntity makes Warehouse a federation entity.
func (Warehouse) IsEntity() {}

// WarehouseByIDsInput is the key of one Warehouse among those to find.
type WarehouseByIDsInput struct {
	ID string
}
