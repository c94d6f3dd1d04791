package extension_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// talkative is a preset that gives the log something of everything.
func talkative() presets {
	return presets{"carrier": {
		Retry:          &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Delay: new(200 * time.Millisecond), Jitter: new(policy.JitterNone)}},
		CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2), OpenDuration: new(30 * time.Second)},
	}}
}

func TestTheLogTellsRetriesFallbacksAndChangesOfState(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		logger, lines := logs()
		up := false
		server := h.protect(textStub(func(context.Context) (*string, error) {
			if !up {
				return nil, errors.New("down")
			}
			return new("up"), nil
		}), newRegistry(t, talkative()), extension.WithLogger(logger), underPreset("Query.text", "carrier"),
			answerWith("Query.text", new("cached")))

		testgraph.Post(t.Context(), t, server, `{ text }`)
		testgraph.Post(t.Context(), t, server, `{ text }`)
		time.Sleep(30 * time.Second)
		up = true
		testgraph.Post(t.Context(), t, server, `{ text }`)
		const who = `field=Query.text policy=carrier `
		require.Equal(t, []string{
			`level=DEBUG msg=retrying ` + who + `attempt=1 delay=200ms error=down`,
			`level=WARN msg="circuit breaker open" ` + who + `breaker=carrier from=closed reason="2 of 2 calls failed"`,
			`level=INFO msg="answering with the fallback" ` + who + `error=down`,
			`level=DEBUG msg=circuit-rejected ` + who + `attempt=1 error="policy \"carrier\" for Query.text: the circuit is open"`,
			`level=INFO msg="answering with the fallback" ` + who + `error="policy \"carrier\" for Query.text: the circuit is open"`,
			`level=WARN msg="circuit breaker half-open" ` + who + `breaker=carrier from=open reason="the open duration is over"`,
			`level=WARN msg="circuit breaker closed" ` + who + `breaker=carrier from=half-open reason="all probes succeeded"`,
		}, lines())
	})
}

func TestTheLogTellsWhoIgnoresTheirContext(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		logger, lines := logs()
		registry := newRegistry(t, nil)
		server := h.protect(textStub(func(context.Context) (*string, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}), registry, extension.WithLogger(logger), extension.WithField("Query.text", extension.Field{
			Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}},
		}))
		testgraph.Post(t.Context(), t, server, `{ text }`)
		const who = `field=Query.text policy=Query.text attempt=1 `
		require.Equal(t, []string{
			`level=DEBUG msg=timeout ` + who + `error="policy \"Query.text\" for Query.text: the operation timed out"`,
			`level=INFO msg="abandoned an attempt that ignores its context" ` + who + `running=1`,
		}, lines())
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestTheLogTellsOfJobsToo(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		logger, lines := logs()
		registry := newRegistry(t, talkative())
		h.protect(&testgraph.Stub{}, registry, extension.WithLogger(logger))
		carrier, err := registry.Preset("carrier")
		require.NoError(t, err)
		breaker, _ := registry.CircuitBreaker("carrier")

		_, err = policy.Execute(t.Context(), carrier.WithSource("Repricer.run"), func(context.Context) (int, error) {
			breaker.Trip()
			return 0, policy.Permanent(errors.New("down"))
		})
		require.EqualError(t, err, "down")
		require.Equal(t, []string{`level=WARN msg="circuit breaker open" field="" policy="" breaker=carrier from=closed reason=tripped`}, lines())
	})
}

func TestWithoutALoggerOnlyWarningsAtBootAreLogged(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		lines := defaultLogs(t)
		server := h.protect(textStub(failing(errors.New("down"))), newRegistry(t, talkative()), answerWith("Query.text", new("cached")),
			extension.WithField("Mutation.save", extension.Field{Spec: policy.Spec{Retry: &policy.RetrySpec{}}}),
			underPreset("Query.text", "carrier"))
		boot := []string{`level=WARN msg="gqlresilience: WithField(\"Mutation.save\"): retry has no effect: the field is not idempotent"`}
		require.Equal(t, boot, lines())
		testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Equal(t, boot, lines())
	})
}

func TestWithALoggerNothingGoesToTheDefaultOne(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		lines := defaultLogs(t)
		logger, own := logs()
		h.protect(&testgraph.Stub{}, newRegistry(t, nil), extension.WithLogger(logger),
			extension.WithField("Mutation.save", extension.Field{Spec: policy.Spec{Retry: &policy.RetrySpec{}}}))
		require.Empty(t, lines())
		require.Len(t, own(), 1)
	})
}

func TestASecondServerOfTheSameSchemaWarnsNoMore(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		logger, lines := logs()
		shared := extension.New(newRegistry(t, nil), extension.WithLogger(logger),
			extension.WithField("Mutation.save", extension.Field{Spec: policy.Spec{Retry: &policy.RetrySpec{}}}))
		for range 2 {
			h.server(&testgraph.Stub{}).Use(shared)
		}
		require.Len(t, lines(), 1)
	})
}

func TestTheLogWarnsOfAFallbackThatFailed(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		logger, lines := logs()
		server := h.protect(textStub(failing(errDown)), newRegistry(t, nil), extension.WithLogger(logger),
			extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return nil, errors.New("no cache") }))
		testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Equal(t, []string{`level=WARN msg="the fallback failed" field=Query.text policy=Query.text error="the dependency is down"`}, lines())
	})
}
