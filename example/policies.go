package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gqlresilience/gqlresilience/example/graph"
	"github.com/gqlresilience/gqlresilience/example/graph/model"
	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/policy"
)

// policies are the presets that the schema's @resilience directives name.
func policies(openDuration time.Duration) policy.Config {
	return policy.Config{
		Defaults: policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(5 * time.Second)},
			Retry: &policy.RetrySpec{
				Attempts: new(3),
				Backoff:  &policy.BackoffSpec{Delay: new(200 * time.Millisecond), MaxDelay: new(2 * time.Second)},
			},
		},
		Presets: map[string]policy.Spec{
			"carrier": {
				// The client returns as soon as its context ends, so there is nothing to abandon.
				Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second), Mode: new(policy.Cooperative)},
				Retry:   &policy.RetrySpec{Attempts: new(2)},
				CircuitBreaker: &policy.CircuitBreakerSpec{
					FailureRate:  new(50),
					MinimumCalls: new(10),
					Window:       policy.CountWindow(20),
					OpenDuration: new(openDuration),
				},
			},
			"export": {
				Timeout: &policy.TimeoutSpec{Duration: new(10 * time.Second)},
				// The last of three waits for two exports to end, one after the other.
				Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(2), MaxQueue: new(3), QueueTimeout: new(20 * time.Second)},
			},
		},
	}
}

// budget is what one operation may take, however many orders it asks for.
func budget() extension.Budget {
	return extension.Budget{
		Timeout:     45 * time.Second,
		Header:      "X-Time-Left", // callers know better how long they wait
		Retries:     new(10),
		Concurrency: 8,
	}
}

// recentQuotes are shown with an order while the carrier's circuit is open. They are the same
// for everybody who may see the order.
func recentQuotes() extension.Stale {
	return extension.Stale{
		MaxAge:     time.Hour,
		MaxEntries: 10_000,
		Key: func(ctx context.Context, _ map[string]any) (string, bool) {
			order, ok := extension.Parent[*model.Order](ctx)
			if !ok {
				return "", false
			}
			return fmt.Sprintf("%#v", graph.Parcel(order)), true // all that the quotes depend on
		},
	}
}

// flatRate is what the store charges for shipping while it cannot ask the carrier.
func flatRate(context.Context, error) ([]*model.ShippingQuote, error) {
	return []*model.ShippingQuote{{Service: "flat-rate", Price: 4.99, EstimatedDays: 5}}, nil
}
