package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/policy"
)

// testShop is a shop and its carrier without sockets between them, so that in a synctest bubble
// its time is the bubble's.
type testShop struct {
	*shop
	t         *testing.T
	stub      *carrier.Stub
	transport *direct
}

func newTestShop(t *testing.T) *testShop {
	t.Helper()
	chosen, err := parseOptions(nil, io.Discard)
	require.NoError(t, err)
	stub := carrier.NewStub()
	transport := &direct{handler: stub}
	client, err := carrier.NewClient("http://carrier", transport)
	require.NoError(t, err)
	shop, err := newShop(chosen, client, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return &testShop{shop: shop, t: t, stub: stub, transport: transport}
}

// ask posts the query, and returns the answer and the time that it took.
func (s *testShop) ask(query string) (answer string, took time.Duration) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(s.t, err)
	request := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/query", strings.NewReader(string(body)))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	start := time.Now()
	s.graphQL.ServeHTTP(recorder, request)
	require.Equal(s.t, http.StatusOK, recorder.Code)
	return recorder.Body.String(), time.Since(start)
}

// calls returns how often the carrier was called since it was last asked for.
func (s *testShop) calls() carrier.Calls {
	defer s.stub.ResetCalls()
	return s.stub.Calls()
}

func (s *testShop) breaker() *policy.CircuitBreaker {
	s.t.Helper()
	breaker, ok := s.registry.CircuitBreaker("carrier")
	require.True(s.t, ok)
	return breaker
}

// direct calls the handler in place of a server.
type direct struct {
	handler http.Handler
	latency time.Duration // of every call
	parting time.Duration // from the end of a call's context to that of the call
}

func (d *direct) RoundTrip(request *http.Request) (*http.Response, error) {
	served := request.Clone(request.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	time.Sleep(d.latency)
	recorder := httptest.NewRecorder()
	d.handler.ServeHTTP(recorder, served)
	if err := request.Context().Err(); err != nil {
		time.Sleep(d.parting)
		return nil, err
	}
	return recorder.Result(), nil
}
