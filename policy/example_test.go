package policy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

func ExampleNewRegistry() {
	registry, err := policy.NewRegistry(policy.Config{
		Defaults: policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(5 * time.Second)},
		},
		Presets: map[string]policy.Spec{
			"carrier": {
				Timeout:        &policy.TimeoutSpec{}, // on, with the duration of the defaults
				Retry:          &policy.RetrySpec{Attempts: new(2)},
				CircuitBreaker: &policy.CircuitBreakerSpec{FailureRate: new(50), OpenDuration: new(30 * time.Second)},
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, breaker := range registry.CircuitBreakers() {
		fmt.Println(name, "is", breaker.State())
	}
	// Output: carrier is closed
}

func ExampleNewRegistry_mistakes() {
	_, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"carrier": {Retry: &policy.RetrySpec{Attempts: new(0)}},
		"export":  {Bulkhead: &policy.BulkheadSpec{MaxQueue: new(-1)}, Timeout: &policy.TimeoutSpec{}},
	}})
	fmt.Println(err)
	// Output:
	// policy.NewRegistry:
	// retry.attempts: 0 (preset "carrier"): must be at least 1
	// bulkhead.maxQueue: -1 (preset "export"): must be at least 0
	// timeout.duration: missing (preset "export"): the stage is on and needs a duration or a total
}

// exampleRegistry has one preset, which tries twice without waiting.
func exampleRegistry() *policy.Registry {
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"carrier": {
			Retry:          &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Delay: new(time.Duration(0))}},
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(4)},
		},
	}})
	if err != nil {
		panic(err)
	}
	return registry
}

func ExampleExecute() {
	carrier, _ := exampleRegistry().Preset("carrier")

	quote, err := policy.Execute(context.Background(), carrier, func(ctx context.Context) (string, error) {
		if policy.AttemptFromContext(ctx) == 1 {
			return "", errors.New("connection reset")
		}
		return "4.99 EUR", nil
	})
	fmt.Println(quote, err)
	// Output: 4.99 EUR <nil>
}

func ExamplePolicy_WithSource() {
	registry := exampleRegistry()
	carrier, _ := registry.Preset("carrier")
	repricer := carrier.WithSource("Repricer.run") // the same breaker, told apart in errors and events

	breaker, _ := registry.CircuitBreaker("carrier")
	breaker.Trip()
	_, err := policy.Execute(context.Background(), repricer, func(context.Context) (string, error) { return "4.99 EUR", nil })
	fmt.Println(err)
	fmt.Println(errors.Is(err, policy.ErrCircuitOpen))
	// Output:
	// policy "carrier" for Repricer.run: the circuit is open
	// true
}

func ExampleRegistry_New() {
	registry := exampleRegistry()
	export, err := registry.New("export", policy.Spec{
		Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(2)},
		Fallback: &policy.FallbackSpec{Func: func(_ context.Context, err error) (any, error) {
			return "yesterday's export", nil
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	csv, err := policy.Execute(context.Background(), export, func(context.Context) (string, error) {
		return "", errors.New("disk full")
	})
	fmt.Println(csv, err)
	// Output: yesterday's export <nil>
}

func ExampleRegistry_Subscribe() {
	registry := exampleRegistry()
	cancel := registry.Subscribe(func(_ context.Context, e policy.Event) {
		switch e.Kind {
		case policy.EventRetry:
			fmt.Printf("%s: attempt %d failed: %v\n", e.Kind, e.Attempt, e.Err)
		case policy.EventCircuitOpen:
			fmt.Printf("%s: %s: %s\n", e.Kind, e.Gate, e.Reason)
		}
	})
	defer cancel()

	carrier, _ := registry.Preset("carrier")
	for range 2 {
		_, _ = policy.Execute(context.Background(), carrier, func(context.Context) (string, error) {
			return "", errors.New("connection reset")
		})
	}
	// Output:
	// retry: attempt 1 failed: connection reset
	// retry: attempt 1 failed: connection reset
	// circuit-open: carrier: 4 of 4 calls failed
}

func ExamplePermanent() {
	carrier, _ := exampleRegistry().Preset("carrier")
	errGone := errors.New("the label was deleted")

	_, err := policy.Execute(context.Background(), carrier, func(ctx context.Context) (string, error) {
		fmt.Println("attempt", policy.AttemptFromContext(ctx))
		return "", policy.Permanent(errGone)
	})
	fmt.Println(err == errGone)
	// Output:
	// attempt 1
	// true
}

func ExampleAsClientError() {
	registry := exampleRegistry()
	carrier, _ := registry.Preset("carrier")
	breaker, _ := registry.CircuitBreaker("carrier")

	_, err := policy.Execute(context.Background(), carrier, func(ctx context.Context) (string, error) {
		return "", policy.AsClientError(errors.New("no such order"))
	})
	fmt.Println(err)
	fmt.Println("calls that the breaker counts:", breaker.Stats().Calls)
	// Output:
	// no such order
	// calls that the breaker counts: 0
}

func ExampleWithRetryAfter() {
	registry := exampleRegistry()
	registry.Subscribe(func(_ context.Context, e policy.Event) {
		fmt.Println("waiting for", e.Delay)
	})
	carrier, _ := registry.Preset("carrier")
	quote, _ := policy.Execute(context.Background(), carrier, func(ctx context.Context) (string, error) {
		if policy.AttemptFromContext(ctx) == 1 {
			return "", policy.WithRetryAfter(errors.New("busy"), 5*time.Millisecond)
		}
		return "4.99 EUR", nil
	})
	fmt.Println(quote)
	// Output:
	// waiting for 5ms
	// 4.99 EUR
}

func ExampleCheckResponse() {
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Retry-After", "120")
	recorder.WriteHeader(http.StatusTooManyRequests)

	err := policy.CheckResponse(recorder.Result())
	fmt.Println(err)
	var response *policy.ResponseError
	if errors.As(err, &response) {
		fmt.Println(response.RetryAfter)
	}
	// Output:
	// HTTP status 429 Too Many Requests
	// 2m0s
}

func ExampleAttemptFromContext() {
	carrier, _ := exampleRegistry().Preset("carrier")
	cache := map[string]string{"order 1001": "stale"}

	quote, _ := policy.Execute(context.Background(), carrier, func(ctx context.Context) (string, error) {
		if policy.AttemptFromContext(ctx) > 1 {
			return "fresh", nil // bypass the cache on a retry
		}
		return "", errors.New("cannot use " + cache["order 1001"])
	})
	fmt.Println(quote)
	fmt.Println(policy.AttemptFromContext(context.Background()), "outside")
	// Output:
	// fresh
	// 0 outside
}

func ExampleCircuitBreaker_Trip() {
	breaker, _ := exampleRegistry().CircuitBreaker("carrier")

	breaker.Trip() // the carrier announced maintenance
	fmt.Println(breaker.State())
	breaker.Reset() // and is back early
	fmt.Println(breaker.State())
	// Output:
	// open
	// closed
}
