package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/example/carrier"
)

func newTestStage(t *testing.T) (*stage, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	return &stage{site: newTestSite(t, nil), openDuration: 30 * time.Second, out: &out}, &out
}

func TestStageAcceptsWhatItMustSee(t *testing.T) {
	stage, out := newTestStage(t)
	stage.ask(t.Context(), quotesQuery, want{answer: liveQuotes, took: within{0, patience}, calls: carrier.Calls{Seen: 1}})
	stage.reprice(t.Context(), 5, nil, want{calls: carrier.Calls{Seen: 5}})
	assert.NoError(t, stage.err)
	assert.Zero(t, stage.wrong, out)
}

func TestStageTellsEachMismatch(t *testing.T) {
	stage, out := newTestStage(t)
	stage.ask(t.Context(), quotesQuery, want{answer: flatQuotes, took: within{time.Hour, 2 * time.Hour}, calls: carrier.Calls{Seen: 1}})
	assert.Equal(t, 1, stage.wrong)
	assert.Contains(t, out.String(), "WRONG: the answer must be "+compact(flatQuotes))
	assert.Contains(t, out.String(), "WRONG: it must take from 1h0m0s to 2h0m0s")
	assert.NotContains(t, out.String(), "WRONG: the HTTP status")

	stage.reprice(t.Context(), 4, errors.New("the carrier is down"), want{calls: carrier.Calls{Seen: 5}})
	assert.Equal(t, 2, stage.wrong)
	assert.Contains(t, out.String(), "WRONG: 4 orders must be repriced")
	assert.Contains(t, out.String(), `WRONG: the error must be "the carrier is down"`)
}

func TestRetryAfterOutOfRangeIsAMismatch(t *testing.T) {
	stage, out := newTestStage(t)
	stage.openDuration = 5 * time.Second // while the circuit is open for 30
	breaker, _ := stage.site.registry.CircuitBreaker("carrier")
	breaker.Trip()
	retryAfter := stage.ask(t.Context(), bookMutation, want{answer: notBooked, took: within{0, patience}, circuit: breaker.State()})
	assert.Greater(t, retryAfter, stage.openDuration)
	assert.LessOrEqual(t, retryAfter, 30*time.Second)
	assert.Equal(t, 1, stage.wrong)
	assert.Contains(t, out.String(), "WRONG: retryAfter must be from 1 to the 5s")
}

func TestStageStopsWhenItIsInterrupted(t *testing.T) {
	stage, out := newTestStage(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stage.ask(ctx, quotesQuery, want{})
	stage.step("never reached")
	assert.ErrorIs(t, stage.err, context.Canceled)
	assert.Empty(t, out.String())
}
