package policy_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// recordEnds records the end of every attempt and call.
func recordEnds(registry *policy.Registry) *recorder {
	r := &recorder{}
	registry.Subscribe(func(_ context.Context, e policy.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}, policy.EventAttempt, policy.EventCall)
	return r
}

// outcomes are those of the events of the kind.
func (r *recorder) outcomes(kind policy.EventKind) []policy.Outcome {
	outcomes := []policy.Outcome{}
	for _, e := range r.of(kind) {
		outcomes = append(outcomes, e.Outcome)
	}
	return outcomes
}

func TestTheEndOfEachAttemptAndCallIsToldOnce(t *testing.T) {
	var cancel context.CancelFunc
	for name, tc := range map[string]struct {
		adapt    func(*policy.Spec)
		fn       func(context.Context) (string, error)
		attempts []policy.Outcome
		call     policy.Outcome
	}{
		"success":      {fn: succeed, attempts: []policy.Outcome{"success"}, call: "success"},
		"failure":      {fn: fail, attempts: []policy.Outcome{"failure", "failure"}, call: "failure"},
		"timeout":      {fn: obey, attempts: []policy.Outcome{"timeout", "timeout"}, call: "timeout"},
		"deaf":         {fn: deaf(time.Minute), attempts: []policy.Outcome{"timeout", "timeout"}, call: "timeout"},
		"client error": {fn: func(context.Context) (string, error) { return "", policy.AsClientError(errDown) }, attempts: []policy.Outcome{"client-error"}, call: "client-error"},
		"cancelled": {fn: func(context.Context) (string, error) { cancel(); return "", context.Canceled },
			attempts: []policy.Outcome{"cancelled"}, call: "cancelled"},
		"panic":  {fn: func(context.Context) (string, error) { panic("boom") }, attempts: []policy.Outcome{"failure"}, call: "failure"},
		"Goexit": {fn: func(context.Context) (string, error) { runtime.Goexit(); return "", nil }, attempts: []policy.Outcome{"failure"}, call: "failure"},
		"rejected": {fn: fail, adapt: func(s *policy.Spec) {
			s.CircuitBreaker = &policy.CircuitBreakerSpec{MinimumCalls: new(1)}
		}, attempts: []policy.Outcome{"failure"}, call: "rejected"},
		"fallback": {fn: fail, adapt: func(s *policy.Spec) { s.Fallback = &policy.FallbackSpec{Func: answer} },
			attempts: []policy.Outcome{"failure", "failure"}, call: "fallback"},
	} {
		t.Run(name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
				synctest.Test(t, func(t *testing.T) {
					spec := policy.Spec{Timeout: timeoutSpec(time.Second, mode), Retry: retrySpec(2, 0)}
					if tc.adapt != nil {
						tc.adapt(&spec)
					}
					p, registry := newPolicy(t, spec)
					ends, other := recordEnds(registry), record(registry)
					ctx := context.Background()
					if name == "cancelled" {
						ctx, cancel = context.WithCancel(ctx)
					}
					done := make(chan struct{})
					go func() { // which a Goexit ends
						defer close(done)
						defer func() { _ = recover() }()
						_, _ = policy.Execute(ctx, p, tc.fn)
					}()
					<-done
					assert.Equal(t, tc.attempts, ends.outcomes(policy.EventAttempt))
					assert.Equal(t, []policy.Outcome{tc.call}, ends.outcomes(policy.EventCall))
					assert.Equal(t, len(tc.attempts), ends.of(policy.EventCall)[0].Attempt)
					assert.Empty(t, other.of(policy.EventCall), "nobody is told who has not asked")
					assert.Empty(t, other.of(policy.EventAttempt))
					require.NoError(t, registry.Wait(t.Context()))
				})
			})
		})
	}
}

func TestEndsTellHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(2, 3*time.Second)})
		ends := recordEnds(registry)
		_, err := policy.Execute(t.Context(), p, func(context.Context) (string, error) {
			time.Sleep(time.Second)
			return "", errDown
		})
		require.Equal(t, errDown, err)
		for i, e := range ends.of(policy.EventAttempt) {
			assert.Equal(t, time.Second, e.Duration)
			assert.Equal(t, i+1, e.Attempt)
			assert.Equal(t, errDown, e.Err)
		}
		call := ends.of(policy.EventCall)[0]
		assert.Equal(t, 5*time.Second, call.Duration)
		assert.Equal(t, errDown, call.Err)
		assert.Equal(t, "carrier", call.Policy)
	})
}

func TestWhoAsksForKindsIsToldOfThoseAlone(t *testing.T) {
	p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(3, 0)})
	var told []policy.EventKind
	cancel := registry.Subscribe(func(_ context.Context, e policy.Event) { told = append(told, e.Kind) }, policy.EventRetry)
	_, _ = policy.Execute(t.Context(), p, fail)
	assert.Equal(t, []policy.EventKind{"retry", "retry"}, told)
	cancel()
	_, _ = policy.Execute(t.Context(), p, fail)
	assert.Len(t, told, 2)
}
