package graph

import (
	"cmp"
	"slices"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/example/graph/model"
)

// Parcel is what the carrier has to know of an order. The reference is the order's ID, so that
// no order is shipped twice.
func Parcel(order *model.Order) carrier.Parcel {
	return carrier.Parcel{Reference: order.ID, Weight: order.Weight, Address: order.Address}
}

// ShippingQuotes turns the carrier's quotes into the schema's, the cheapest first.
func ShippingQuotes(quotes []carrier.Quote) []*model.ShippingQuote {
	converted := make([]*model.ShippingQuote, len(quotes))
	for i, quote := range quotes {
		converted[i] = &model.ShippingQuote{Service: quote.Service, Price: quote.Price, EstimatedDays: quote.Days}
	}
	slices.SortFunc(converted, func(a, b *model.ShippingQuote) int { return cmp.Compare(a.Price, b.Price) })
	return converted
}
