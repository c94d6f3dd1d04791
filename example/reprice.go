package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/example/graph"
	"github.com/gqlresilience/gqlresilience/example/store"
	"github.com/gqlresilience/gqlresilience/policy"
)

// repricer keeps the quotes of pending orders fresh. It calls the carrier under the policy of
// the GraphQL fields: what breaks the circuit for one spares the carrier the other.
type repricer struct {
	policy  *policy.Policy
	carrier *carrier.Client
	store   *store.Store
	logger  *slog.Logger
}

// run reprices at every interval, the first time after one, until ctx ends.
func (r *repricer) run(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		priced, err := r.reprice(ctx)
		if err != nil && ctx.Err() == nil {
			r.logger.WarnContext(ctx, "repricing failed", "priced", priced, "error", err)
			continue
		}
		r.logger.InfoContext(ctx, "repriced", "priced", priced)
	}
}

// reprice asks the carrier for quotes of all pending orders, and returns how many it got. An
// open circuit ends the run, since the other orders would fare the same.
func (r *repricer) reprice(ctx context.Context) (priced int, err error) {
	var failures []error
	for _, order := range r.store.Pending() {
		quotes, err := policy.Execute(ctx, r.policy, func(ctx context.Context) ([]carrier.Quote, error) {
			return r.carrier.Quotes(ctx, graph.Parcel(order))
		})
		switch {
		case ctx.Err() != nil || errors.Is(err, policy.ErrCircuitOpen):
			return priced, errors.Join(append(failures, err)...)
		case err != nil:
			failures = append(failures, fmt.Errorf("order %s: %w", order.ID, err))
			continue
		case len(quotes) == 0:
			continue
		}
		if err := r.store.SetLastQuote(order.ID, graph.ShippingQuotes(quotes)[0]); err != nil {
			failures = append(failures, err)
			continue
		}
		priced++
	}
	return priced, errors.Join(failures...)
}
