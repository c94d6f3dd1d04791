package main

import (
	"fmt"
	"net/http"

	"github.com/99designs/gqlgen/graphql/playground"

	"github.com/gqlresilience/gqlresilience/extension"
)

// newMux routes the store's requests: GraphQL by POST, GET, SSE and WebSocket, a playground to
// try it in, a live page for operators, metrics for Prometheus, and the health of the process.
func newMux(graphQL, dashboard, metrics http.Handler, ready func() bool) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/query", extension.NoStore(graphQL))
	mux.Handle("GET /{$}", playground.Handler("A store for cat food", "/query"))
	mux.Handle("/resilience/", dashboard) // of a real store, only for those who run it
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "alive")
	})
	// An open circuit is no reason not to be ready: the store serves what does not need the
	// carrier, and sending its clients elsewhere would not bring the carrier back.
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	return mux
}
