package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestEventsThatWereHeldUpDoNotTurnTheClockBack(t *testing.T) {
	r := newRecorder(label.ErrorType)
	now := r.start.Add(time.Minute)
	tell := func(kind policy.EventKind, outcome policy.Outcome, ago time.Duration) {
		r.on(context.Background(), policy.Event{Kind: kind, Outcome: outcome, Policy: "carrier", Gate: "carrier", Time: now.Add(-ago), Err: policy.ErrTimeout})
	}
	for _, ago := range []time.Duration{time.Second, 5 * time.Second} {
		tell(policy.EventCall, policy.OutcomeSuccess, ago)
		tell(policy.EventCall, policy.OutcomeFailure, ago)
		tell(policy.EventTimeout, "", ago)
		tell(policy.EventRetry, "", ago)
		tell(policy.EventFallback, "", ago)
	}
	latest := moment(now.Add(-time.Second))
	fields := r.viewFields(periodOf(r.start, now))
	require.Len(t, fields, 1)
	assert.Equal(t, latest, fields[0].LastAnswer)
	assert.Equal(t, latest, fields[0].LastProblem)
	fallbacks := r.viewFallbacks(now)
	require.Len(t, fallbacks, 1)
	assert.Equal(t, latest, fallbacks[0].Last)
	assert.Equal(t, 2, fallbacks[0].Count)
	events := viewEvents(r.journal.all())
	require.Len(t, events, 3)
	for _, e := range events {
		assert.Equal(t, latest, e.Last)
		assert.Equal(t, 2, e.Count)
	}
	tell(policy.EventTimeout, "", 0)
	assert.Equal(t, policy.EventTimeout, viewEvents(r.journal.all())[0].Kind, "the latest first")
}

func TestAFallbackThatHasFailedIsNotServed(t *testing.T) {
	r := newRecorder(label.ErrorType)
	r.on(context.Background(), policy.Event{Kind: policy.EventFallback, Policy: "carrier", Time: r.start, Reason: "failed", Err: errors.New("down")})
	assert.Empty(t, r.viewFallbacks(r.start))
	assert.Len(t, r.journal.all(), 1)
}

func TestAProblemIsToldOfFieldsThatHadOneOnly(t *testing.T) {
	r := newRecorder(label.ErrorType)
	r.on(context.Background(), policy.Event{Kind: policy.EventCall, Policy: "carrier", Time: r.start, Outcome: policy.OutcomeSuccess})
	assert.Empty(t, r.viewFields(1)[0].Problem)
	r.on(context.Background(), policy.Event{Kind: policy.EventCall, Policy: "carrier", Time: r.start, Outcome: policy.OutcomeFallback})
	assert.Equal(t, "fallback", r.viewFields(1)[0].Problem)
}

func TestWhatIsEmptyIsAListAndPoliciesAreSorted(t *testing.T) {
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"carrier": {CircuitBreaker: &policy.CircuitBreakerSpec{}}, "export": {CircuitBreaker: &policy.CircuitBreakerSpec{}}, "sms": {CircuitBreaker: &policy.CircuitBreakerSpec{}},
	}})
	require.NoError(t, err)
	d, err := New(registry)
	require.NoError(t, err)
	defer d.Close()
	text, err := json.Marshal(d.Look().CircuitBreakers[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"window":[]`)
	assert.Contains(t, string(text), `"changes":[]`)
	for _, name := range []string{"sms", "export", "carrier", "a", "z"} {
		d.recorder.on(context.Background(), policy.Event{Kind: policy.EventCall, Policy: name, Time: time.Now(), Outcome: policy.OutcomeSuccess})
	}
	var names []string
	for _, p := range d.Look().Policies {
		names = append(names, p.Name)
	}
	assert.Equal(t, []string{"a", "carrier", "export", "sms", "z"}, names)

	d.Close()
	p, err := registry.Preset("carrier")
	require.NoError(t, err)
	_, _ = policy.Execute(context.Background(), p.WithSource("late"), func(context.Context) (int, error) { return 0, nil })
	for _, f := range d.Look().Fields {
		assert.NotEqual(t, "late", f.Field, "nothing is watched any more")
	}
}
