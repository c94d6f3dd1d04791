package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

// message is a server-sent event.
type message struct{ event, data string }

func messages(t *testing.T, body string) (all []message) {
	t.Helper()
	for text := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		event, data, ok := strings.Cut(text, "\ndata: ")
		require.True(t, ok, text)
		require.NotContains(t, data, "\n")
		all = append(all, message{strings.TrimPrefix(event, "event: "), data})
	}
	return all
}

// watch reads the stream for so long.
func watch(d *dashboard.Dashboard, long time.Duration) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	return answer(d, httptest.NewRequestWithContext(ctx, http.MethodGet, "/resilience/stream", nil))
}

func TestAStreamSendsAWholeSnapshotEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
		var plan atomic.Pointer[extension.Plan]
		plan.Store(&extension.Plan{})
		d := newDashboard(t, registry, dashboard.WithPlan(func() extension.Plan { return *plan.Load() }))
		time.Sleep(300 * time.Millisecond) // viewers come when they like
		go func() {
			time.Sleep(2 * time.Second)
			call(preset(t, registry, "carrier"), 4, fail)
			plan.Store(&extension.Plan{Fields: []extension.PlanField{{Coordinate: "Query.shippingQuotes"}}})
		}()
		response := watch(d, 5*time.Second)
		assert.Equal(t, "text/event-stream", response.Header().Get("Content-Type"))
		var kinds, states []string
		for _, m := range messages(t, response.Body.String()) {
			kinds = append(kinds, m.event)
			if m.event == "snapshot" {
				var s snapshot
				require.NoError(t, json.Unmarshal([]byte(m.data), &s))
				states = append(states, s.CircuitBreakers[0].State)
			}
		}
		assert.Equal(t, []string{"plan", "snapshot", "snapshot", "snapshot", "snapshot", "snapshot", "plan", "snapshot"}, kinds)
		assert.Equal(t, []string{"closed", "closed", "closed", "open", "open", "open"}, states)

		again := messages(t, watch(d, time.Millisecond).Body.String())
		assert.Equal(t, "plan", again[0].event, "for those who come back")
		assert.Contains(t, again[0].data, "Query.shippingQuotes")
		assert.Contains(t, again[1].data, `"state":"open"`)
	})
}

func TestViewersShareWhatIsComputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var plans atomic.Int64
		registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
		d := newDashboard(t, registry, dashboard.WithPlan(func() extension.Plan { plans.Add(1); return extension.Plan{} }))
		time.Sleep(time.Hour)
		assert.Zero(t, plans.Load(), "nobody looks")

		bodies := make([]string, 50)
		var viewers sync.WaitGroup
		for i := range bodies {
			viewers.Go(func() {
				time.Sleep(time.Duration(i) * 7 * time.Millisecond)
				bodies[i] = watch(d, 10*time.Second).Body.String()
			})
		}
		viewers.Wait()
		assert.Equal(t, int64(3), plans.Load(), "one each five seconds")
		seen := map[string]bool{}
		for _, body := range bodies {
			for _, m := range messages(t, body) {
				seen[m.data] = true
			}
		}
		assert.Len(t, seen, 1+11, "the plan, and a snapshot each second")
		time.Sleep(time.Hour)
		assert.Equal(t, int64(3), plans.Load(), "nobody looks any more")
	})
}

func TestViewersAreToldWhatHappenedUntilTheDashboardWasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
		d := newDashboard(t, registry)
		go func() {
			time.Sleep(100 * time.Millisecond) // in the second of the first snapshot
			call(preset(t, registry, "carrier"), 4, fail)
			d.Close()
			call(preset(t, registry, "carrier"), 1, succeed)
		}()
		all := messages(t, watch(d, time.Minute).Body.String())
		require.Len(t, all, 3)
		assert.Contains(t, all[1].data, `"state":"closed"`)
		assert.Equal(t, "snapshot", all[2].event)
		assert.Contains(t, all[2].data, `"state":"open"`)
	})
}

func TestClosingEndsStreamsAndLetsAServerShutDown(t *testing.T) {
	registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
	d, err := dashboard.New(registry)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(d)
	server.Config.RegisterOnShutdown(d.Close)
	server.Start()
	response, err := server.Client().Get(server.URL + "/resilience/stream")
	require.NoError(t, err)
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "event: plan\n", first)

	require.NoError(t, server.Config.Shutdown(t.Context()))
	for err == nil {
		_, err = lines.ReadString('\n')
	}
	late := get(d, "/resilience/stream")
	assert.Equal(t, http.StatusServiceUnavailable, late.Code, "so that it is tried again")
	assert.Equal(t, "1", late.Header().Get("Retry-After"))

	call(preset(t, registry, "carrier"), 1, succeed)
	assert.Empty(t, look(t, d).Fields, "nothing is watched any more")
	d.Close()
	server.Close()
}

// TestAStreamOutlivesTheServersWriteTimeout takes the server's word for it that the timeout would end it: the answer
// comes later than that.
func TestAStreamOutlivesTheServersWriteTimeout(t *testing.T) {
	d := newDashboard(t, newRegistry(t, nil))
	server := httptest.NewUnstartedServer(d)
	server.Config.WriteTimeout = time.Millisecond
	server.Start()
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/resilience/stream")
	require.NoError(t, err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for snapshots := 0; snapshots < 2; { // the second one comes a second later
		require.True(t, lines.Scan(), "the stream has ended: %v", lines.Err())
		if lines.Text() == "event: snapshot" {
			snapshots++
		}
	}
	d.Close()
}
