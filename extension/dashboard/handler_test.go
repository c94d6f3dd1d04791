package dashboard_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestThePageIsServedWhereverItIsMounted(t *testing.T) {
	d := newDashboard(t, newRegistry(t, nil))
	mux := http.NewServeMux()
	mux.Handle("/resilience/", d)
	mux.Handle("/admin/live/", http.StripPrefix("/admin/live", d))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, path := range []string{"/resilience", "/resilience/", "/admin/live", "/admin/live/"} {
		response, err := server.Client().Get(server.URL + path)
		require.NoError(t, err)
		page, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode, path)
		assert.Contains(t, string(page), `data-control="false"`)
		assert.True(t, strings.HasSuffix(response.Request.URL.Path, "/"), "to which what the page asks for is relative")
		response, err = server.Client().Get(server.URL + strings.TrimSuffix(path, "/") + "/snapshot")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
	}
}

func TestThePageRunsAndFetchesNothingElse(t *testing.T) {
	d := newDashboard(t, newRegistry(t, nil))
	response := get(d, "/resilience/")
	policy := response.Header().Get("Content-Security-Policy")
	for _, directive := range []string{
		"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "frame-ancestors 'none'", "base-uri 'none'",
		"form-action 'none'", "require-trusted-types-for 'script'",
	} {
		assert.Contains(t, policy, directive)
	}
	assert.NotContains(t, policy, "unsafe")
	assert.Equal(t, "no-store", response.Header().Get("Cache-Control"))
	assert.Equal(t, "nosniff", response.Header().Get("X-Content-Type-Options"))
	assert.Equal(t, "same-origin", get(d, "/resilience/snapshot").Header().Get("Cross-Origin-Resource-Policy"))
	assert.Regexp(t, `data-page="`+look(t, d).Server.Page+`"`, response.Body.String(), "by which an old page is known")
}

func TestOtherPathsAndMethodsAreRefused(t *testing.T) {
	d := newDashboard(t, newRegistry(t, nil))
	assert.Equal(t, http.StatusNotFound, get(d, "/resilience/nothing").Code)
	for path, allowed := range map[string]string{"": "GET, HEAD", "snapshot": "GET, HEAD", "stream": "GET, HEAD", "trip": "POST", "reset": "POST"} {
		response := answer(d, httptest.NewRequest(http.MethodPut, "/resilience/"+path, nil))
		assert.Equal(t, http.StatusMethodNotAllowed, response.Code, path)
		assert.Equal(t, allowed, response.Header().Get("Allow"), path)
	}
	assert.Equal(t, http.StatusOK, answer(d, httptest.NewRequest(http.MethodHead, "/resilience/stream", nil)).Code)
}

func TestWhatIsWrongIsToldAtOnce(t *testing.T) {
	registry := newRegistry(t, nil)
	operator := dashboard.WithOperator(func(*http.Request) string { return "" })
	_, err := dashboard.New(nil, nil, dashboard.WithPlan(nil), dashboard.WithControl(nil), dashboard.WithOperator(nil),
		dashboard.WithLogger(nil), dashboard.WithErrorText(nil))
	for _, says := range []string{
		"dashboard.New: the registry is nil", "an option is nil", "WithPlan: the function is nil", "WithControl: the function is nil",
		"WithOperator: the function is nil", "WithLogger: the logger is nil", "WithErrorText: the function is nil",
	} {
		assert.ErrorContains(t, err, says)
	}
	_, err = dashboard.New(registry, operator)
	assert.EqualError(t, err, "dashboard.New: WithOperator: there is no WithControl whose use it could tell of")
}

// unencodable is a setting that JSON has no words for.
type unencodable struct{}

func (unencodable) MarshalJSON() ([]byte, error) { return nil, errors.New("no words") }

func TestThePlanIsShownIfThereIsOne(t *testing.T) {
	registry := newRegistry(t, nil)
	assert.Nil(t, look(t, newDashboard(t, registry)).Plan)
	plan := extension.Plan{Fields: []extension.PlanField{{Coordinate: "Query.shippingQuotes"}}}
	d := newDashboard(t, registry, dashboard.WithPlan(func() extension.Plan { return plan }))
	assert.Equal(t, "Query.shippingQuotes", look(t, d).Plan.Fields[0].Field)

	plan.Fields[0].Description.Settings = []policy.Setting{{Path: "x", Value: unencodable{}}}
	d = newDashboard(t, registry, dashboard.WithPlan(func() extension.Plan { return plan }))
	assert.Contains(t, get(d, "/snapshot").Body.String(), "no words", "and the rest is shown all the same")
}
