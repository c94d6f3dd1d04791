// Package graph answers the store's GraphQL schema.
package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/example/graph/model"
	"github.com/gqlresilience/gqlresilience/example/store"
)

//go:generate go tool gqlgen-resilience

// Resolver is the root of the resolvers. Both fields are required.
type Resolver struct {
	Store   *store.Store
	Carrier *carrier.Client
}

// order returns the order with the ID. The code on its error tells clients what is wrong, and
// the policies that it is the client who is wrong: NOT_FOUND is neither retried nor counted.
func (r *Resolver) order(id string) (*model.Order, error) {
	order, err := r.Store.Order(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &gqlerror.Error{
			Err:        err,
			Message:    fmt.Sprintf("There is no order %q", id),
			Extensions: map[string]any{"code": "NOT_FOUND"},
		}
	}
	return order, err
}

func (r *Resolver) quotes(ctx context.Context, order *model.Order) ([]*model.ShippingQuote, error) {
	quotes, err := r.Carrier.Quotes(ctx, Parcel(order))
	if err != nil {
		return nil, err
	}
	return ShippingQuotes(quotes), nil
}
