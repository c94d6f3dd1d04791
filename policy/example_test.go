package policy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
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

func ExampleDecodeConfig() {
	config, err := policy.DecodeConfig(strings.NewReader(`{
		"defaults": {"retry": {"backoff": {"delay": "100ms", "maxDelay": "1s"}}},
		"presets": {
			"carrier": {"timeout": {"duration": "1.5s"}, "retry": {"attempts": 2}}
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	config.IsClientError = func(err error) bool { return errors.Is(err, os.ErrNotExist) } // what only Go can say
	registry, err := policy.NewRegistry(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	carrier, _ := registry.Preset("carrier")
	fmt.Println(carrier.Describe().Attempts, "attempts of", carrier.Describe().Timeout)
	// Output: 2 attempts of 1.5s
}

func ExampleDecodeConfig_mistakes() {
	_, err := policy.DecodeConfig(strings.NewReader(`{"presets": {"carrier": {
		"retry": {"atempts": 2, "retryIf": true},
		"timeout": {"duration": 5}
	}}}`))
	fmt.Println(err)
	// Output:
	// policy.DecodeConfig:
	// presets.carrier.retry.atempts: unknown: did you mean "attempts"?
	// presets.carrier.retry.retryIf: true: must be set in Go, for JSON has no funcs
	// presets.carrier.timeout.duration: 5: must be a duration in quotes and with a unit, such as "1.5s" or "200ms"
}

func ExamplePolicy_Describe() {
	registry, err := policy.NewRegistry(policy.Config{
		Defaults: policy.Spec{Retry: &policy.RetrySpec{Backoff: &policy.BackoffSpec{MaxDelay: new(2 * time.Second)}}},
		Presets: map[string]policy.Spec{"carrier": {
			Timeout: &policy.TimeoutSpec{Duration: new(1500 * time.Millisecond)},
			Retry:   &policy.RetrySpec{Attempts: new(2)},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	carrier, _ := registry.Preset("carrier")
	description := carrier.Describe()
	for _, setting := range description.Settings {
		fmt.Println(setting)
	}
	worst := description.WorstCase(true)
	fmt.Println("at worst", worst.Duration, "or, if nobody sends Retry-After,", worst.WithoutRetryAfter)
	// Output:
	// timeout.enabled: true (preset "carrier")
	// timeout.duration: 1.5s (preset "carrier")
	// timeout.mode: Cooperative (built-in default)
	// timeout.maxAbandoned: 1000 (built-in default)
	// retry.enabled: true (preset "carrier")
	// retry.attempts: 2 (preset "carrier")
	// retry.backoff.delay: 200ms (built-in default)
	// retry.backoff.factor: 2 (built-in default)
	// retry.backoff.maxDelay: 2s (Config.Defaults)
	// retry.backoff.jitter: JitterFull (built-in default)
	// at worst 5s or, if nobody sends Retry-After, 3.2s
}

func ExampleRemainingTime() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	carrier, _ := exampleRegistry().Preset("carrier")

	_, _ = policy.Execute(ctx, carrier, func(ctx context.Context) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://carrier.example/quotes", nil)
		if err != nil {
			return "", err
		}
		if remaining, ok := policy.RemainingTime(ctx); ok {
			request.Header.Set("Request-Timeout", remaining.Round(time.Minute).String())
		}
		fmt.Println(request.Header.Get("Request-Timeout"))
		return "4.99 EUR", nil
	})
	// Output: 5m0s
}
