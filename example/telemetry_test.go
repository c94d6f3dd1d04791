package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetricsShowAnOutageWithoutAnyCall(t *testing.T) {
	site := newTestSite(t, func(o *options) { o.openDuration = time.Hour })
	_, _, err := send(t.Context(), http.MethodPut, site.carrierURL+"/mode/fail", "")
	require.NoError(t, err)
	status, text := get(t, site.url+"/metrics")
	require.Equal(t, http.StatusOK, status)
	const state = `(?m)^gqlresilience_circuit_breaker_state\{gqlresilience_circuit_breaker="carrier",gqlresilience_state=`
	assert.Regexp(t, state+`"open",.*\} 0$`, text)
	assert.Regexp(t, state+`"closed",.*\} 1$`, text)

	for range 5 { // of two attempts each
		post(t, site, quotesQuery)
	}
	_, calls := get(t, site.carrierURL+"/calls")
	_, text = get(t, site.url+"/metrics")
	assert.Regexp(t, state+`"open",.*\} 1$`, text)
	assert.Regexp(t, state+`"closed",.*\} 0$`, text)
	assert.Regexp(t, `(?m)^gqlresilience_calls_total\{gqlresilience_field="Query.shippingQuotes",gqlresilience_outcome="failure",gqlresilience_policy="carrier",.*\} 5$`, text)
	_, since := get(t, site.carrierURL+"/calls")
	assert.Equal(t, calls, since, "nobody has been called for the metrics")
}

// span is what stdouttrace writes of one.
type span struct {
	Name       string
	Parent     struct{ SpanID string }
	Attributes []struct {
		Key   string
		Value struct{ Value any }
	}
	Events []struct{ Name string }
}

func TestTraceWritesWhatPoliciesDo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written, stdout := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"-trace", "-addr", "127.0.0.1:0", "-carrier-addr", "127.0.0.1:0"}, stdout, io.Discard)
	}()
	reader := bufio.NewReader(written)
	address := func(prefix string) string {
		line, err := reader.ReadString('\n')
		require.NoError(t, err)
		rest, ok := strings.CutPrefix(line, prefix)
		require.True(t, ok, line)
		url, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		return url
	}
	store, carrier := address("store:"), address("carrier:")
	_, _, err := send(ctx, http.MethodPut, carrier+"/mode/fail", "")
	require.NoError(t, err)
	go send(ctx, http.MethodPost, store+"/query", `{"query": "{ shippingQuotes(orderId: \"1001\") { price } }"}`)

	decoder := json.NewDecoder(reader)
	var field, operation span
	require.NoError(t, decoder.Decode(&field))
	require.NoError(t, decoder.Decode(&operation))
	assert.Equal(t, "query", operation.Name)
	assert.Equal(t, "0000000000000000", operation.Parent.SpanID)
	assert.Equal(t, "Query.shippingQuotes", field.Name)
	assert.NotEqual(t, "0000000000000000", field.Parent.SpanID)
	require.Len(t, field.Attributes, 1)
	assert.Equal(t, "gqlresilience.attempt.count", field.Attributes[0].Key)
	assert.Equal(t, 2.0, field.Attributes[0].Value.Value)
	require.Len(t, field.Events, 1)
	assert.Equal(t, "gqlresilience.retry", field.Events[0].Name)
	go io.Copy(io.Discard, reader)
	cancel()
	assert.Zero(t, <-status)
}
