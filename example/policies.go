package main

import (
	"context"
	"time"

	"github.com/gqlresilience/gqlresilience/example/graph/model"
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
				Timeout:  &policy.TimeoutSpec{Duration: new(10 * time.Second)},
				Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(2), MaxQueue: new(3)},
			},
		},
	}
}

// flatRate is what the store charges for shipping while it cannot ask the carrier.
func flatRate(context.Context, error) ([]*model.ShippingQuote, error) {
	return []*model.ShippingQuote{{Service: "flat-rate", Price: 4.99, EstimatedDays: 5}}, nil
}
