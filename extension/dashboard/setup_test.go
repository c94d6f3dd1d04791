package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

var errDown = errors.New("the carrier is down")

// carrier is a policy whose breaker opens at the third failure of four calls, for a minute.
var carrier = policy.Spec{
	CircuitBreaker: &policy.CircuitBreakerSpec{
		MinimumCalls: new(4), FailureRate: new(75), Window: policy.CountWindow(4), OpenDuration: new(time.Minute),
	},
}

func newRegistry(t testing.TB, presets map[string]policy.Spec) *policy.Registry {
	t.Helper()
	registry, err := policy.NewRegistry(policy.Config{Presets: presets})
	require.NoError(t, err)
	return registry
}

func preset(t testing.TB, registry *policy.Registry, name string) *policy.Policy {
	t.Helper()
	p, err := registry.Preset(name)
	require.NoError(t, err)
	return p.WithSource("Query." + name)
}

func newDashboard(t testing.TB, registry *policy.Registry, options ...dashboard.Option) *dashboard.Dashboard {
	t.Helper()
	d, err := dashboard.New(registry, options...)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

func succeed(context.Context) (string, error) { return "quote", nil }

func fail(context.Context) (string, error) { return "", errDown }

func call(p *policy.Policy, times int, fn func(context.Context) (string, error)) {
	for range times {
		_, _ = policy.Execute(context.Background(), p, fn)
	}
}

// snapshot is what tests read of one.
type snapshot struct {
	Time   time.Time
	Server struct {
		Started time.Time
		Page    string
	}
	CircuitBreakers []struct {
		Name, State, Reason       string
		Since                     time.Time
		RetryAfter                float64
		Probes, Calls, Failures   int
		FailureRate, MinimumCalls int
		OpenDuration              float64
		WindowCalls               int
		WindowDuration            float64
		Window                    []struct{ Calls, Failures int }
		Outage                    *outage
		Changes                   []struct {
			Time             time.Time
			From, To, Reason string
		}
	}
	Bulkheads []struct {
		Name                                               string
		Running, MaxConcurrent, Queued, MaxQueue, Rejected int
	}
	RateLimiters []struct {
		Name                              string
		Available, Burst, Limit, Rejected int
		Interval                          float64
	}
	Abandoned int
	History   struct {
		Step float64
		From time.Time
	}
	Policies []struct {
		Name, CircuitBreaker                string
		Calls, Failures, Fallbacks, Retries []int
		P50, P99                            []*float64
		Total                               struct {
			Calls, Failures, Fallbacks, Retries int
			P50, P99                            *float64
		}
	}
	Fields    []field
	Fallbacks []struct {
		Field, Policy, For string
		Since, Last        time.Time
		Count              int
	}
	Events []event
	Plan   *struct{ Fields []struct{ Field string } }
}

type outage struct {
	Began  time.Time
	Reason string
	Ended  *time.Time
}

type field struct {
	Field, Policy           string
	Got                     map[string]int
	LastAnswer, LastProblem *time.Time
	Problem                 string
}

type event struct {
	Time, Last                                         time.Time
	Count, Attempt                                     int
	Kind, Policy, Field, Gate, From, To, Reason, Error string
}

func answer(handler http.Handler, r *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder
}

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	return answer(handler, httptest.NewRequest(http.MethodGet, path, nil))
}

// look returns the snapshot, of the second that has begun last.
func look(t testing.TB, d *dashboard.Dashboard) (s snapshot) {
	t.Helper()
	response := get(d, "/resilience/snapshot")
	require.Equal(t, http.StatusOK, response.Code, response.Body)
	require.Equal(t, "application/json", response.Header().Get("Content-Type"))
	decoder := json.NewDecoder(strings.NewReader(response.Body.String()))
	require.NoError(t, decoder.Decode(&s))
	return s
}

func sum(columns []int) (sum int) {
	for _, n := range columns {
		sum += n
	}
	return sum
}
