package extension_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// narrow is a preset whose gates let one call through at a time, and open at the second failure.
func narrow() presets {
	return presets{"carrier": {
		Timeout:        &policy.TimeoutSpec{Duration: new(time.Second)},
		CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2), OpenDuration: new(30 * time.Second)},
		Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1)},
		RateLimit:      &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Second)},
	}}
}

func TestAResolverMayUseThePresetOfItsField(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, narrow())
		carrier, err := registry.Preset("carrier")
		require.NoError(t, err)
		breaker, _ := registry.CircuitBreaker("carrier")
		bulkhead, _ := registry.Bulkhead("carrier")

		call := answering("quotes")
		server := h.protect(textStub(func(ctx context.Context) (*string, error) {
			return policy.Execute(ctx, carrier, func(ctx context.Context) (*string, error) {
				assert.Equal(t, 1, bulkhead.Running(), "one slot for both")
				return policy.Execute(ctx, carrier.WithSource("deeper"), call)
			})
		}), registry, underPreset("Query.text", "carrier"))
		post := func() testgraph.Response {
			time.Sleep(time.Second) // for a token
			return testgraph.Post(t.Context(), t, server, `{ text }`)
		}

		require.Equal(t, "quotes", post().Data["text"])
		require.Equal(t, 1, breaker.Stats().Calls, "one call for both")
		call = failing(errors.New("down"))
		require.Equal(t, "down", post().Errors[0].Message)
		require.Equal(t, policy.StateOpen, breaker.State())
		require.Equal(t, "CIRCUIT_OPEN", post().Errors[0].Extensions["code"])

		time.Sleep(30 * time.Second)
		require.Equal(t, policy.StateHalfOpen, breaker.State())
		require.Equal(t, "down", post().Errors[0].Message, "the probe reaches the dependency and fails")
		require.Equal(t, policy.StateOpen, breaker.State())

		time.Sleep(30 * time.Second)
		call = answering("quotes")
		require.Equal(t, "quotes", post().Data["text"], "the probe does not reject itself")
		require.Equal(t, policy.StateClosed, breaker.State())
		require.Zero(t, bulkhead.Running())
	})
}

func TestAChildUnderThePresetOfItsParentPassesTheGatesItself(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"carrier": {
			Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}, CircuitBreaker: &policy.CircuitBreakerSpec{},
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(10)},
		}})
		bulkhead, _ := registry.Bulkhead("carrier")
		stub := &testgraph.Stub{}
		stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return &model.Item{ID: "1"}, nil }
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			assert.Equal(t, 1, bulkhead.Running())
			time.Sleep(100 * time.Millisecond)
			return new("slow"), nil
		}
		stub.ItemResolver.Probe = stub.ItemResolver.Slow
		server := h.protect(stub, registry, underPreset("Query.item", "carrier"), underPreset("Item.slow", "carrier"), underPreset("Item.probe", "carrier"))
		began := time.Now()
		require.Empty(t, testgraph.Post(t.Context(), t, server, `{ item(id: 1) { slow probe } }`).Errors)
		require.Equal(t, 200*time.Millisecond, time.Since(began), "one after the other")
		breaker, _ := registry.CircuitBreaker("carrier")
		require.Equal(t, 3, breaker.Stats().Calls)
	})
}

func TestWorkThatAnAttemptLeftBehindPassesTheGatesItself(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"carrier": {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1)}}})
		carrier, err := registry.Preset("carrier")
		require.NoError(t, err)
		released, done := make(chan struct{}), make(chan struct{})
		server := h.protect(textStub(func(ctx context.Context) (*string, error) {
			go func() {
				defer close(done)
				<-released
				_, err := policy.Execute(context.WithoutCancel(ctx), carrier, answering("text"))
				assert.ErrorIs(t, err, policy.ErrBulkheadFull, "the attempt's slot is not its own any more")
			}()
			return new("text"), nil
		}), registry, underPreset("Query.text", "carrier"))
		testgraph.Post(t.Context(), t, server, `{ text }`)
		taken := make(chan struct{})
		go func() {
			_, _ = policy.Execute(t.Context(), carrier, func(context.Context) (int, error) { close(released); <-taken; return 0, nil })
		}()
		<-released
		synctest.Wait()
		close(taken)
		<-done
	})
}

func TestAJobSharesTheBreakerOfTheFieldsUnderItsPreset(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"carrier": {
			Timeout:        &policy.TimeoutSpec{Duration: new(time.Second)},
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(4), OpenDuration: new(30 * time.Second)},
		}})
		carrier, err := registry.Preset("carrier")
		require.NoError(t, err)
		up := false
		call := func(context.Context) (*string, error) {
			if !up {
				return nil, errors.New("down")
			}
			return new("up"), nil
		}
		server := h.protect(textStub(call), registry, underPreset("Query.text", "carrier"))
		job := func() error {
			_, err := policy.Execute(t.Context(), carrier.WithSource("Repricer.run"), call)
			return err
		}

		for range 2 {
			testgraph.Post(t.Context(), t, server, `{ text }`)
			require.EqualError(t, job(), "down")
		}
		require.ErrorIs(t, job(), policy.ErrCircuitOpen)
		require.Equal(t, "CIRCUIT_OPEN", testgraph.Post(t.Context(), t, server, `{ text }`).Errors[0].Extensions["code"])

		time.Sleep(30 * time.Second)
		up = true
		require.NoError(t, job(), "the job's probe")
		require.Equal(t, "up", testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"], "closes the circuit for the field")
	})
}

func TestAFieldThatChangesABreakersSettingsHasItsOwn(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"carrier": {CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1)}}})
		stub := textStub(failing(errors.New("down")))
		stub.QueryResolver.StrictText = func(context.Context) (string, error) { return "up", nil }
		server := h.protect(stub, registry, underPreset("Query.strictText", "carrier"), extension.WithField("Query.text", extension.Field{
			Preset: "carrier", Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{OpenDuration: new(time.Hour)}},
		}))
		testgraph.Post(t.Context(), t, server, `{ text }`)
		own, ok := registry.CircuitBreaker("Query.text")
		require.True(t, ok)
		require.Equal(t, policy.StateOpen, own.State(), "with the preset's MinimumCalls")
		require.Equal(t, "up", testgraph.Post(t.Context(), t, server, `{ strictText }`).Data["strictText"])
	})
}
