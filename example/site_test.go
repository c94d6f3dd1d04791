package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/example/carrier"
)

// patience is how long a test waits for what must come; only failing tests wait it out.
const patience = 30 * time.Second

func newTestSite(t *testing.T, change func(*options)) *site {
	t.Helper()
	chosen, err := parseOptions([]string{"-addr", "127.0.0.1:0", "-carrier-addr", "127.0.0.1:0"}, io.Discard)
	require.NoError(t, err)
	chosen.notice = 0
	if change != nil {
		change(&chosen)
	}
	site, err := openSite(chosen, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(t, site.shutDown(ctx))
	})
	return site
}

func get(t *testing.T, url string) (status int, text string) {
	t.Helper()
	status, text, err := send(t.Context(), http.MethodGet, url, "")
	require.NoError(t, err)
	return status, text
}

func post(t *testing.T, site *site, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	status, text, err := send(t.Context(), http.MethodPost, site.url+"/query", string(body))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	return text
}

// openStream subscribes by server-sent events and returns the lines that come.
func openStream(t *testing.T, site *site, query string) *bufio.Scanner {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.url+"/query", strings.NewReader(string(body)))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

// nextLine returns the next line that starts with prefix, without it.
func nextLine(t *testing.T, lines *bufio.Scanner, prefix string) string {
	t.Helper()
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			return rest
		}
	}
	require.Failf(t, "the stream has ended", "before a line that starts with %q: %v", prefix, lines.Err())
	return ""
}

// keepRedirecting sends events until stop is called, since a stream opens before its subscription
// has begun.
func keepRedirecting(t *testing.T, site *site) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	sending.Go(func() {
		for ctx.Err() == nil {
			send(ctx, http.MethodPost, site.url+"/query", `{"query": "mutation { updateOrder(orderId: \"1001\", address: \"Rome\") { id } }"}`)
		}
	})
	return func() {
		cancel()
		sending.Wait()
	}
}

func TestQueriesAreServedByPOSTAndGET(t *testing.T) {
	site := newTestSite(t, nil)
	assert.JSONEq(t, liveQuotes, post(t, site, quotesQuery))
	status, text := get(t, site.url+"/query?"+url.Values{"query": {quotesQuery}}.Encode())
	assert.Equal(t, http.StatusOK, status)
	assert.JSONEq(t, liveQuotes, text)
	_, calls := get(t, site.carrierURL+"/calls")
	assert.JSONEq(t, `{"seen": 2, "cancelled": 0}`, calls)
}

func TestHealthAndPlaygroundAreServed(t *testing.T) {
	site := newTestSite(t, nil)
	for path, wanted := range map[string]string{"/livez": "alive", "/readyz": "ready", "/": "A store for cat food"} {
		status, text := get(t, site.url+path)
		assert.Equal(t, http.StatusOK, status, path)
		assert.Contains(t, text, wanted)
	}
	status, _ := get(t, site.url+"/nowhere")
	assert.Equal(t, http.StatusNotFound, status)
}

func TestHangingCarrierSeesItsCallersGoAway(t *testing.T) {
	site := newTestSite(t, nil)
	_, _, err := send(t.Context(), http.MethodPut, site.carrierURL+"/mode/hang", "")
	require.NoError(t, err)
	assert.JSONEq(t, timedOut, post(t, site, quotesQuery))
	// How many calls there are is proven where time does not depend on the machine.
	require.Eventually(t, func() bool {
		var calls carrier.Calls
		_, text := get(t, site.carrierURL+"/calls")
		require.NoError(t, json.Unmarshal([]byte(text), &calls))
		return calls.Seen >= 1 && calls.Seen == calls.Cancelled
	}, patience, time.Millisecond)
}

const (
	subscription = `subscription { shipmentEvents(orderId: "1001") { kind order { address shipment { trackingCode } } } }`
	redirected   = `{"data": {"shipmentEvents": {"kind": "REDIRECTED", "order": {"address": "Rome", "shipment": null}}}}`
)

func TestServerSentEventsCompleteAtShutDown(t *testing.T) {
	site := newTestSite(t, nil)
	lines := openStream(t, site, subscription)
	stop := keepRedirecting(t, site)
	assert.JSONEq(t, redirected, nextLine(t, lines, "data: "))
	stop()
	ended := make(chan error, 1)
	go func() { ended <- site.shutDown(t.Context()) }()
	nextLine(t, lines, "event: complete")
	assert.NoError(t, <-ended)
}

func TestWebSocketsCloseAtShutDown(t *testing.T) {
	site := newTestSite(t, nil)
	socket := openSocket(t, site.url)
	socket.subscribe(subscription)
	stop := keepRedirecting(t, site)
	event := socket.receive()
	assert.Equal(t, "next", event.Type)
	assert.JSONEq(t, redirected, string(event.Payload))
	stop()
	ended := make(chan error, 1)
	go func() { ended <- site.shutDown(t.Context()) }()
	socket.expectClose(1000)
	assert.NoError(t, <-ended)
}

func TestUnknownOrderHasNoEvents(t *testing.T) {
	site := newTestSite(t, nil)
	lines := openStream(t, site, `subscription { shipmentEvents(orderId: "9") { kind } }`)
	assert.Contains(t, nextLine(t, lines, "data: "), `"code":"NOT_FOUND"`)
	nextLine(t, lines, "event: complete")
}

// startExport asks for an export of the duration, and returns once it runs or is over.
func startExport(t *testing.T, duration time.Duration) (site *site, answer <-chan string) {
	t.Helper()
	site = newTestSite(t, func(o *options) { o.exportDuration = duration })
	exports, ok := site.registry.Bulkhead("export")
	require.True(t, ok)
	answered := make(chan string, 1)
	go func() {
		_, text, _ := send(t.Context(), http.MethodPost, site.url+"/query", `{"query": "{ exportOrders }"}`)
		answered <- text
	}()
	require.Eventually(t, func() bool { return exports.Running() == 1 || len(answered) == 1 }, patience, time.Millisecond)
	return site, answered
}

func TestRequestsUnderWayAreAnsweredAtShutDown(t *testing.T) {
	site, answer := startExport(t, 500*time.Millisecond)
	require.NoError(t, site.shutDown(t.Context()))
	assert.Contains(t, <-answer, "tuna-85")
	_, _, err := send(t.Context(), http.MethodGet, site.url+"/livez", "")
	assert.Error(t, err)
}

func TestRequestsThatOutlastTheShutDownAreCutOff(t *testing.T) {
	site, answer := startExport(t, time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	assert.ErrorContains(t, site.shutDown(ctx), "draining requests: context deadline exceeded")
	assert.NotContains(t, <-answer, "tuna-85")
}

func TestLoadBalancersAreToldBeforeConnectionsAreRefused(t *testing.T) {
	site := newTestSite(t, func(o *options) { o.notice = time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- site.shutDown(ctx) }()
	require.Eventually(t, func() bool {
		status, _ := get(t, site.url+"/readyz")
		return status == http.StatusServiceUnavailable
	}, patience, time.Millisecond)
	assert.JSONEq(t, liveQuotes, post(t, site, quotesQuery))
	status, _ := get(t, site.url+"/livez")
	assert.Equal(t, http.StatusOK, status)
	cancel()
	<-ended
	site.notice = 0
}

func TestRunServesUntilItIsTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, stdout := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"-addr", "127.0.0.1:0", "-carrier-addr", "127.0.0.1:0"}, stdout, io.Discard)
	}()
	lines := bufio.NewScanner(reader)
	store, _, _ := strings.Cut(strings.TrimSpace(nextLine(t, lines, "store:")), " ")
	nextLine(t, lines, "carrier:")
	code, _ := get(t, store+"/readyz")
	assert.Equal(t, http.StatusOK, code)
	cancel()
	assert.Zero(t, <-status)
}

func TestRunUsesTheCarrierItIsGiven(t *testing.T) {
	stub := carrier.NewStub()
	real := httptest.NewServer(stub)
	defer real.Close()
	site := newTestSite(t, func(o *options) { o.carrierURL = real.URL })
	assert.JSONEq(t, liveQuotes, post(t, site, quotesQuery))
	assert.Equal(t, 1, stub.Calls().Seen)
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, row := range []struct {
		args    string
		status  int
		message string
	}{
		{"-reprice -1s", 2, "example: -reprice: must not be negative"},
		{"-addr 127.0.0.1:0 -carrier-addr " + taken.Addr().String(), 1, "example: -carrier-addr: listen tcp"},
		{"-carrier-addr 127.0.0.1:0 -addr " + taken.Addr().String(), 1, "example: -addr: listen tcp"},
		{"-addr 127.0.0.1:0 -carrier-url carrier.example", 1, `example: carrier URL "carrier.example": must be`},
		{"-help", 0, ""},
	} {
		t.Run(row.args, func(t *testing.T) {
			var stderr strings.Builder
			assert.Equal(t, row.status, run(t.Context(), strings.Fields(row.args), io.Discard, &stderr))
			assert.True(t, strings.HasPrefix(stderr.String(), row.message), stderr.String())
			assert.LessOrEqual(t, strings.Count(stderr.String(), "\n"), 1)
		})
	}
}
