package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheLivePageTellsOfAnOutage(t *testing.T) {
	site := newTestSite(t, nil)
	_, _, err := send(t.Context(), http.MethodPut, site.carrierURL+"/mode/fail", "")
	require.NoError(t, err)
	for range 6 {
		post(t, site, quotesQuery)
	}
	status, text := get(t, site.url+"/resilience/snapshot")
	require.Equal(t, http.StatusOK, status)
	var now struct {
		CircuitBreakers []struct{ Name, State, Reason string }
		Fallbacks       []struct{ Field, For string }
		Fields          []struct {
			Field string
			Got   map[string]int
		}
		Plan struct {
			Fields []struct {
				Field     string
				WorstCase struct{ Duration string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &now))
	require.Len(t, now.CircuitBreakers, 1)
	assert.Equal(t, "open", now.CircuitBreakers[0].State)
	assert.Equal(t, "10 of 10 calls failed", now.CircuitBreakers[0].Reason)
	require.Len(t, now.Fallbacks, 1)
	assert.Equal(t, "Query.shippingQuotes", now.Fallbacks[0].Field)
	assert.Equal(t, "CIRCUIT_OPEN", now.Fallbacks[0].For)
	assert.Equal(t, map[string]int{"error": 5, "fallback": 1}, now.Fields[0].Got)
	assert.Equal(t, "Mutation.createShipment", now.Plan.Fields[0].Field)
	assert.NotEmpty(t, now.Plan.Fields[0].WorstCase.Duration)
}

func TestAnOpenPageDoesNotKeepTheStoreFromShuttingDown(t *testing.T) {
	site := newTestSite(t, nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site.url+"/resilience/stream", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: plan\n", line)
	require.NoError(t, site.shutDown(t.Context()), "while the viewer is still there")
}
