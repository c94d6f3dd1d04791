package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

func ExampleNew() {
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"carrier": {CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2)}},
	}})
	if err != nil {
		panic(err)
	}
	page, err := dashboard.New(registry) // with dashboard.WithPlan of the extension's Plan
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/resilience/", page) // behind what lets only operators pass
	server := httptest.NewServer(mux)
	defer server.Close()
	defer page.Close() // in a program: server.RegisterOnShutdown(page.Close)

	carrier, _ := registry.Preset("carrier")
	for range 2 {
		_, _ = policy.Execute(context.Background(), carrier, func(context.Context) (string, error) {
			return "", fmt.Errorf("the carrier is down")
		})
	}
	response, err := http.Get(server.URL + "/resilience/snapshot")
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	var now struct {
		CircuitBreakers []struct{ Name, State, Reason string }
	}
	if err := json.NewDecoder(response.Body).Decode(&now); err != nil {
		panic(err)
	}
	fmt.Println(now.CircuitBreakers)
	// Output: [{carrier open 2 of 2 calls failed}]
}
