package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

// retried is a policy whose every failure is an event.
var retried = policy.Spec{Retry: &policy.RetrySpec{
	Attempts: new(2), Backoff: &policy.BackoffSpec{Func: func(int, error) time.Duration { return 0 }},
}}

func TestWhatOneGateDidIsNotToldOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		presets := map[string]policy.Spec{}
		for i := range 300 {
			spec := carrier
			spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(1)}
			spec.RateLimit = &policy.RateLimitSpec{Limit: new(8), Interval: new(time.Minute)}
			presets[fmt.Sprint("carrier", i+100)] = spec
		}
		registry := newRegistry(t, presets)
		d := newDashboard(t, registry)
		look(t, d)
		down := []string{"carrier398", "carrier399"}
		for _, name := range down {
			p := preset(t, registry, name)
			held := make(chan struct{})
			go call(p, 1, func(context.Context) (string, error) { <-held; return "", nil })
			synctest.Wait()
			call(p, 2, succeed)
			close(held)
			synctest.Wait()
			call(p, 5, succeed)
			call(p, 4, fail)
		}
		time.Sleep(time.Second)
		now := look(t, d)
		var broken, full, spent []string
		for i, b := range now.CircuitBreakers {
			if b.Outage != nil || len(b.Changes) > 0 || b.Reason != "" {
				broken = append(broken, b.Name)
				assert.Len(t, b.Changes, 1)
			}
			if now.Bulkheads[i].Rejected > 0 {
				full = append(full, now.Bulkheads[i].Name)
				assert.Equal(t, 2, now.Bulkheads[i].Rejected)
			}
			if now.RateLimiters[i].Rejected > 0 {
				spent = append(spent, now.RateLimiters[i].Name)
			}
		}
		assert.Equal(t, down, full)
		assert.Equal(t, down, spent)
		assert.Empty(t, broken, "no call of the dependency has failed")

		for _, name := range down {
			breaker, _ := registry.CircuitBreaker(name)
			breaker.Trip()
		}
		time.Sleep(time.Second)
		for _, b := range look(t, d).CircuitBreakers {
			if b.Outage != nil || len(b.Changes) > 0 || b.Reason != "" {
				broken = append(broken, b.Name)
				assert.Len(t, b.Changes, 1)
			}
		}
		assert.Equal(t, down, broken)
	})
}

func TestAnOrderMayNameAnyBreakerThatIsShown(t *testing.T) {
	long := strings.Repeat("carrier ", 50) + "é"
	registry := newRegistry(t, map[string]policy.Spec{long: carrier, "other " + long: carrier})
	d := newDashboard(t, registry, dashboard.WithControl(isAda), dashboard.WithLogger(slog.New(slog.DiscardHandler)))
	call(preset(t, registry, long), 1, succeed)
	now := look(t, d)
	require.Len(t, now.CircuitBreakers, 2)
	assert.Equal(t, now.CircuitBreakers[0].Name, now.Policies[0].CircuitBreaker, "by which they are told to belong together")
	response := answer(d, order("trip", func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(`{"circuitBreaker": "` + now.CircuitBreakers[0].Name + `"}`))
	}))
	assert.Equal(t, http.StatusNoContent, response.Code, response.Body)
	breaker, _ := registry.CircuitBreaker(long)
	other, _ := registry.CircuitBreaker("other " + long)
	assert.Equal(t, []policy.State{policy.StateOpen, policy.StateClosed}, []policy.State{breaker.State(), other.State()})
}

// reserved is an error that can't do without its pointer.
type reserved struct{ text string }

func (r *reserved) Error() string { return r.text }

func TestAnErrorWhoseMethodsPanicIsToldAllTheSame(t *testing.T) {
	for name, options := range map[string][]dashboard.Option{
		"by its type": nil, "by its text": {dashboard.WithErrorText(error.Error)},
		"by a function that panics": {dashboard.WithErrorText(func(error) string { panic("no text") })},
	} {
		t.Run(name, func(t *testing.T) {
			registry := newRegistry(t, map[string]policy.Spec{"carrier": retried})
			d := newDashboard(t, registry, options...)
			call(preset(t, registry, "carrier"), 1, func(context.Context) (string, error) { return "", (*reserved)(nil) })
			now := look(t, d)
			require.Len(t, now.Events, 1)
			assert.Equal(t, "*dashboard_test.reserved", now.Events[0].Error)
			assert.Equal(t, map[string]int{"error": 1}, now.Fields[0].Got)
			assert.Equal(t, 1, now.Policies[0].Total.Failures)
		})
	}
}

func TestAPlanThatPanicsHidesNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		broken := true
		registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
		d := newDashboard(t, registry, dashboard.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), dashboard.WithPlan(func() extension.Plan {
			if broken {
				panic("secret")
			}
			return extension.Plan{}
		}))
		body := get(d, "/resilience/snapshot").Body.String()
		assert.Contains(t, body, `"name":"carrier"`)
		assert.Contains(t, body, `"plan":{"error":"the plan's function panicked: see the server's log"}`)
		assert.Contains(t, log.String(), "panic=secret")
		assert.Contains(t, watch(d, time.Millisecond).Body.String(), "event: snapshot")

		broken = false
		time.Sleep(5 * time.Second)
		assert.NotNil(t, look(t, d).Plan.Fields)
	})
}

func TestAStreamIsRefusedWhereItCanNotBeSentPieceByPiece(t *testing.T) {
	d := newDashboard(t, newRegistry(t, nil))
	response := get(http.TimeoutHandler(d, time.Minute, "too slow"), "/resilience/stream")
	assert.Equal(t, http.StatusInternalServerError, response.Code)
	assert.Contains(t, response.Header().Get("Content-Type"), "text/plain")
	assert.Contains(t, response.Body.String(), "http.TimeoutHandler, can't send an answer piece by piece")
}

func TestWhatAHundredFieldsMeetDoesNotPushOutWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier, "export": carrier})
		d := newDashboard(t, registry)
		call(preset(t, registry, "carrier"), 4, fail)
		for i := range 500 {
			call(preset(t, registry, "carrier").WithSource(fmt.Sprint("user ", i)), 1, succeed)
		}
		events := look(t, d).Events
		require.Len(t, events, 100)
		assert.Equal(t, "user 499", events[0].Field)
		assert.Equal(t, "user 401", events[98].Field)
		assert.Equal(t, "circuit-open", events[99].Kind)

		breaker, _ := registry.CircuitBreaker("export")
		for range 100 {
			breaker.Trip()
			breaker.Reset()
		}
		for i := range 500 {
			call(preset(t, registry, "carrier").WithSource(fmt.Sprint("user ", i)), 1, succeed)
		}
		time.Sleep(time.Second)
		kinds := map[string]int{}
		for _, e := range look(t, d).Events {
			kinds[e.Kind]++
		}
		assert.Equal(t, map[string]int{"circuit-rejected": 50, "circuit-open": 25, "circuit-closed": 25}, kinds, "nor do they push out all else")
	})
}

func TestMemoryDoesNotGrowWithWhoCallsAndWhatErrorsSay(t *testing.T) {
	registry := newRegistry(t, map[string]policy.Spec{"carrier": retried})
	d := newDashboard(t, registry, dashboard.WithErrorText(error.Error))
	p := preset(t, registry, "carrier")
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range 300 {
		text := fmt.Sprint(i, strings.Repeat("x", 1<<18))
		call(p.WithSource(text), 1, func(context.Context) (string, error) { return "", errors.New(text) })
	}
	assert.Less(t, heap()-before, int64(8<<20), "of 75 MB of names and texts, most of which is not shown")
	assert.Len(t, look(t, d).Events, 100)
}
