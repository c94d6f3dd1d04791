package dashboard_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

// order is a request as the page makes it.
func order(action string, change func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://store.example/resilience/"+action, strings.NewReader(`{"circuitBreaker": "carrier"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "http://store.example")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.SetBasicAuth("ada", "secret")
	if change != nil {
		change(r)
	}
	return r
}

func isAda(r *http.Request) bool {
	user, password, _ := r.BasicAuth()
	return user == "ada" && password == "secret"
}

func TestOperatorsMayTripAndReset(t *testing.T) {
	var log bytes.Buffer
	registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
	breaker, _ := registry.CircuitBreaker("carrier")
	d := newDashboard(t, registry, dashboard.WithControl(isAda), dashboard.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	response := answer(d, order("trip", nil))
	assert.Equal(t, http.StatusNoContent, response.Code, response.Body)
	assert.Equal(t, policy.StateOpen, breaker.State())
	assert.Regexp(t, `level=WARN msg="circuit breaker tripped by an operator" operator=ada remote=192\.0\.2\.1:1234 breaker=carrier`, log.String())
	log.Reset()
	assert.Equal(t, http.StatusNoContent, answer(d, order("reset", nil)).Code)
	assert.Equal(t, policy.StateClosed, breaker.State())
	assert.Regexp(t, `msg="circuit breaker reset by an operator" operator=ada remote=.* breaker=carrier`, log.String())

	assert.Contains(t, answer(d, order("", func(r *http.Request) { r.Method = http.MethodGet })).Body.String(), `data-control="true"`)
	assert.Contains(t, get(d, "/resilience/").Body.String(), `data-control="false"`, "for others there are no buttons")
}

func TestNobodyElseChangesAnything(t *testing.T) {
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(text)) }
	}
	for name, tc := range map[string]struct {
		change func(*http.Request)
		status int
		says   string
	}{
		"GET":                {func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed, "GET is not for this"},
		"PUT":                {func(r *http.Request) { r.Method = http.MethodPut }, http.StatusMethodNotAllowed, "PUT is not for this"},
		"another site":       {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden, "cross-origin"},
		"a site beside":      {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden, "cross-origin"},
		"an old browser's":   {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden, "cross-origin"},
		"an opaque origin":   {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") }, http.StatusForbidden, "cross-origin"},
		"a form":             {func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, http.StatusUnsupportedMediaType, "application/json"},
		"a form of text":     {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType, "application/json"},
		"no type":            {func(r *http.Request) { r.Header.Del("Content-Type") }, http.StatusUnsupportedMediaType, "application/json"},
		"nobody":             {func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusForbidden, "you may not do that"},
		"another user":       {func(r *http.Request) { r.SetBasicAuth("eve", "secret") }, http.StatusForbidden, "you may not do that"},
		"no body":            {body(""), http.StatusBadRequest, "the body must be"},
		"no JSON":            {body("circuitBreaker=carrier"), http.StatusBadRequest, "the body must be"},
		"an unknown member":  {body(`{"circuitBreaker": "carrier", "for": "1h"}`), http.StatusBadRequest, "unknown field"},
		"two values":         {body(`{"circuitBreaker": "carrier"} {}`), http.StatusBadRequest, "more than one value"},
		"a long body":        {body(`{"circuitBreaker": "` + strings.Repeat("x", 5000) + `"}`), http.StatusBadRequest, "too large"},
		"an unknown breaker": {body(`{"circuitBreaker": "courier"}`), http.StatusNotFound, `there is no circuit breaker "courier"`},
	} {
		t.Run(name, func(t *testing.T) {
			registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
			breaker, _ := registry.CircuitBreaker("carrier")
			changed := 0
			d := newDashboard(t, registry, dashboard.WithControl(isAda), dashboard.WithLogger(slog.New(slog.DiscardHandler)))
			for _, action := range []string{"trip", "reset"} {
				before := breaker.Stats()
				response := answer(d, order(action, tc.change))
				assert.Equal(t, tc.status, response.Code)
				assert.Contains(t, response.Body.String(), tc.says)
				if breaker.Stats() != before {
					changed++
				}
			}
			assert.Zero(t, changed)
		})
	}
}

func TestADashboardIsReadOnlyByDefault(t *testing.T) {
	var log bytes.Buffer
	registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
	breaker, _ := registry.CircuitBreaker("carrier")
	d := newDashboard(t, registry, dashboard.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	response := answer(d, order("trip", nil))
	assert.Equal(t, http.StatusForbidden, response.Code)
	assert.Equal(t, "this dashboard is read-only\n", response.Body.String())
	assert.Equal(t, policy.StateClosed, breaker.State())
	assert.Regexp(t, `msg="refused to trip a circuit breaker" operator=ada .* status=403 error="this dashboard is read-only"`, log.String())
}

func TestAnOperatorIsNamedAsTheProgramSays(t *testing.T) {
	var log bytes.Buffer
	registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
	d := newDashboard(t, registry, dashboard.WithControl(func(*http.Request) bool { return true }),
		dashboard.WithOperator(func(r *http.Request) string { return r.Header.Get("X-User") }),
		dashboard.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	response := answer(d, order("trip", func(r *http.Request) { r.Header.Set("X-User", "grace") }))
	require.Equal(t, http.StatusNoContent, response.Code)
	assert.Contains(t, log.String(), "operator=grace")
}
