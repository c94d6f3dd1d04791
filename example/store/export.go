package store

import (
	"context"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"github.com/gqlresilience/gqlresilience/example/pause"
)

// Export returns all orders as CSV, one line per item. It takes the store's export duration, as
// a report over a big table would, and gives up when ctx ends.
func (s *Store) Export(ctx context.Context) (string, error) {
	var text strings.Builder
	report := csv.NewWriter(&text)
	report.Write([]string{"order", "customer", "address", "status", "sku", "quantity", "price"})
	orders := s.Orders()
	perOrder := s.exportDuration / time.Duration(len(orders))
	for _, order := range orders {
		if err := pause.For(ctx, perOrder); err != nil {
			return "", err
		}
		for _, item := range order.Items {
			report.Write([]string{
				order.ID, order.Customer, order.Address, order.Status.String(),
				item.Sku, strconv.Itoa(item.Quantity), strconv.FormatFloat(item.Price, 'f', 2, 64),
			})
		}
	}
	report.Flush()
	return text.String(), report.Error()
}
