package policy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestDefaultsMustNotSwitchNameOrAnswer(t *testing.T) {
	const rule = "defaults only fill settings of stages that are on elsewhere"
	_, err := policy.NewRegistry(policy.Config{Defaults: policy.Spec{
		Timeout:        &policy.TimeoutSpec{Enabled: new(true)},
		Retry:          &policy.RetrySpec{Enabled: new(false)},
		CircuitBreaker: &policy.CircuitBreakerSpec{Name: new("shared")},
		Bulkhead:       &policy.BulkheadSpec{Enabled: new(false), Name: new("shared")},
		RateLimit:      &policy.RateLimitSpec{Name: new("shared")},
		Fallback:       &policy.FallbackSpec{Func: answer},
	}})
	require.Error(t, err)
	assert.Equal(t, strings.Join([]string{
		"policy.NewRegistry:",
		"timeout.enabled: true (Config.Defaults): " + rule,
		"retry.enabled: false (Config.Defaults): " + rule,
		"circuitBreaker.name: shared (Config.Defaults): " + rule,
		"bulkhead.enabled: false (Config.Defaults): " + rule,
		"bulkhead.name: shared (Config.Defaults): " + rule,
		"rateLimit.name: shared (Config.Defaults): " + rule,
		"fallback: set (Config.Defaults): a fallback belongs to a preset or a field",
	}, "\n"), err.Error())
}

func TestDefaultsAreCheckedEvenIfNobodyTakesThem(t *testing.T) {
	_, err := policy.NewRegistry(policy.Config{Defaults: policy.Spec{
		Timeout: &policy.TimeoutSpec{Enabled: new(false), Duration: new(-time.Second)},
	}})
	assert.ErrorContains(t, err, "timeout.duration: -1s (Config.Defaults): must be positive")
}

func TestDefaultsMayLeaveStagesIncomplete(t *testing.T) {
	_, err := policy.NewRegistry(policy.Config{Defaults: policy.Spec{
		Timeout:   &policy.TimeoutSpec{Mode: new(policy.Enforced)},
		RateLimit: &policy.RateLimitSpec{Burst: new(5)},
		Bulkhead:  &policy.BulkheadSpec{QueueTimeout: new(time.Second)},
	}})
	assert.NoError(t, err)
}

func TestDefaultQueueTimeoutIsNoMistakeWhereNothingQueues(t *testing.T) {
	_, err := policy.NewRegistry(policy.Config{
		Defaults: policy.Spec{Bulkhead: &policy.BulkheadSpec{QueueTimeout: new(time.Second)}},
		Presets:  map[string]policy.Spec{"carrier": {Bulkhead: &policy.BulkheadSpec{}}},
	})
	assert.NoError(t, err)
}

// What Defaults say may contradict a built-in default that nobody ends up with.
func TestDefaultsAreNotHeldAgainstBuiltInDefaults(t *testing.T) {
	_, err := policy.NewRegistry(policy.Config{
		Defaults: policy.Spec{
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(30)},
			Retry:          &policy.RetrySpec{Backoff: &policy.BackoffSpec{Delay: new(time.Minute)}},
		},
		Presets: map[string]policy.Spec{"carrier": {
			CircuitBreaker: &policy.CircuitBreakerSpec{Window: policy.CountWindow(50)},
			Retry:          &policy.RetrySpec{Backoff: &policy.BackoffSpec{MaxDelay: new(time.Hour)}},
		}},
	})
	assert.NoError(t, err)
}

func TestDefaultsFillStagesThatAreOn(t *testing.T) {
	registry := newRegistry(t, policy.Config{
		Defaults: policy.Spec{
			Timeout:  &policy.TimeoutSpec{Duration: new(time.Second)},
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(3)},
		},
		Presets: map[string]policy.Spec{
			"carrier": {Bulkhead: &policy.BulkheadSpec{}},
			"export":  {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(2)}},
			"quick":   {Timeout: &policy.TimeoutSpec{}}, // "default": the duration from below
		},
	})
	carrier, _ := registry.Bulkhead("carrier")
	export, _ := registry.Bulkhead("export")
	assert.Equal(t, 3, carrier.MaxConcurrent())
	assert.Equal(t, 2, export.MaxConcurrent())

	_, on := registry.Bulkhead("quick")
	assert.False(t, on, "defaults turned a stage on")
}

func TestOffTurnsAPresetsStageOff(t *testing.T) {
	registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{
		"carrier": {Bulkhead: &policy.BulkheadSpec{}, Retry: &policy.RetrySpec{}},
	}})
	p := compose(t, registry, policy.Composition{
		Name: "Query.quotes", Origin: "Query.quotes", Preset: "carrier",
		Layers: layer("Query.quotes", bulkheadSpec(policy.BulkheadSpec{Enabled: new(false), MaxConcurrent: new(-4)})),
	})
	carrier, _ := registry.Bulkhead("carrier")
	_, _ = policy.Execute(t.Context(), p, func(context.Context) (string, error) {
		assert.Zero(t, carrier.Running())
		return "", nil
	})
}

func TestNothingOnIsAMistakeUnlessSomebodyTurnedItOff(t *testing.T) {
	off := policy.Spec{Retry: &policy.RetrySpec{Enabled: new(false)}}
	registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{"carrier": {Retry: &policy.RetrySpec{}}}})

	_, err := registry.Compose(policy.Composition{Name: "Query.a", Origin: "a.graphqls:1"})
	assert.EqualError(t, err, "a.graphqls:1: turns no stage on: name a preset or set a timeout (Config.Defaults turn none on)")
	_, err = registry.Compose(policy.Composition{Name: "Query.b", Origin: "b.graphqls:1", Layers: layer("b", off)})
	assert.EqualError(t, err, "b.graphqls:1: turns no stage on: name a preset or set a timeout (Config.Defaults turn none on)", "there was nothing to turn off")

	assert.Nil(t, compose(t, registry, policy.Composition{Name: "Query.c", Optional: true}))
	assert.Nil(t, compose(t, registry, policy.Composition{Name: "Query.d", Preset: "carrier", Layers: layer("d", off)}))

	_, err = registry.New("job", off)
	assert.EqualError(t, err, `policy "job": turns no stage on: set a timeout or another stage (Config.Defaults turn none on)`)
	_, err = registry.New("job", policy.Spec{})
	assert.EqualError(t, err, `policy "job": turns no stage on: set a timeout or another stage (Config.Defaults turn none on)`)
	_, err = registry.New("", off)
	assert.EqualError(t, err, `policy.Registry.New: policy "": its name must not be blank`)
}
