package policy

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// described lists the settings of a composition's policy, each as its String.
func described(t *testing.T, r *Registry, c Composition) []string {
	t.Helper()
	policies, err := r.Compose(c)
	require.NoError(t, err)
	return lines(policies[0].Describe())
}

func lines(d Description) []string {
	var list []string
	for _, s := range d.Settings {
		list = append(list, s.String())
	}
	return list
}

func registryOf(t *testing.T, config Config) *Registry {
	t.Helper()
	r, err := NewRegistry(config)
	require.NoError(t, err)
	return r
}

func TestADescriptionTellsEverySettingInForceAndItsOrigin(t *testing.T) {
	r := registryOf(t, Config{
		Defaults: Spec{
			Timeout:  &TimeoutSpec{Duration: new(5 * time.Second)},
			Retry:    &RetrySpec{Backoff: &BackoffSpec{MaxDelay: new(2 * time.Second)}},
			Bulkhead: &BulkheadSpec{MaxConcurrent: new(3)},
		},
		Presets: map[string]Spec{"carrier": {
			Timeout:        &TimeoutSpec{Total: new(time.Minute)},
			Retry:          &RetrySpec{Attempts: new(Unlimited)},
			CircuitBreaker: &CircuitBreakerSpec{OpenDuration: new(10 * time.Second)},
			RateLimit:      &RateLimitSpec{Limit: new(9), Interval: new(time.Second)},
			Fallback:       &FallbackSpec{Func: flatRate},
		}},
	})
	assert.Equal(t, []string{
		`fallback.enabled: true (preset "carrier")`,
		`fallback.func: func policy.flatRate (preset "carrier")`,
		`timeout.enabled: true (schema.graphqls:12)`,
		`timeout.duration: 1.5s (schema.graphqls:12)`,
		`timeout.total: 1m0s (preset "carrier")`,
		`timeout.mode: Enforced (built-in default)`,
		`timeout.maxAbandoned: 1000 (built-in default)`,
		`retry.enabled: true (preset "carrier")`,
		`retry.attempts: unlimited (preset "carrier")`,
		`retry.backoff.delay: 200ms (built-in default)`,
		`retry.backoff.factor: 2 (built-in default)`,
		`retry.backoff.maxDelay: 2s (Config.Defaults)`,
		`retry.backoff.jitter: JitterFull (built-in default)`,
		`circuitBreaker.enabled: true (preset "carrier")`,
		`circuitBreaker.name: carrier (preset "carrier")`,
		`circuitBreaker.failureRate: 50 (built-in default)`,
		`circuitBreaker.minimumCalls: 10 (built-in default)`,
		`circuitBreaker.window: the last 20 calls (built-in default)`,
		`circuitBreaker.openDuration: 10s (preset "carrier")`,
		`circuitBreaker.halfOpenMaxCalls: 1 (built-in default)`,
		`circuitBreaker.halfOpenMaxWait: 10s (built-in default)`,
		`rateLimit.enabled: true (preset "carrier")`,
		`rateLimit.name: carrier (preset "carrier")`,
		`rateLimit.limit: 9 (preset "carrier")`,
		`rateLimit.interval: 1s (preset "carrier")`,
		`rateLimit.burst: 9 (built-in default)`,
		`rateLimit.maxWait: 0s (built-in default)`,
	}, described(t, r, Composition{
		Name: "Query.quotes", Origin: "schema.graphqls:12", Preset: "carrier", Mode: Enforced,
		Layers: []Layer{{Origin: "schema.graphqls:12", Spec: Spec{Timeout: &TimeoutSpec{Duration: new(1500 * time.Millisecond)}}}},
	}))
}

func flatRate(context.Context, error) (any, error) { return "flat rate", nil }

// A gate is described as it is, whoever merely names it says what.
func TestADescriptionTakesAGatesSettingsFromWhereTheGateIsConfigured(t *testing.T) {
	r := registryOf(t, Config{Presets: map[string]Spec{
		"carrier": {Bulkhead: &BulkheadSpec{MaxConcurrent: new(2), MaxQueue: new(5), QueueTimeout: new(time.Second)}},
		"export":  {Bulkhead: &BulkheadSpec{Name: new("carrier")}},
	}})
	export, err := r.Preset("export")
	require.NoError(t, err)
	assert.Equal(t, []string{
		`bulkhead.enabled: true (preset "export")`,
		`bulkhead.name: carrier (preset "export")`,
		`bulkhead.maxConcurrent: 2 (preset "carrier")`,
		`bulkhead.maxQueue: 5 (preset "carrier")`,
		`bulkhead.queueTimeout: 1s (preset "carrier")`,
		`bulkhead.holdAbandoned: false (built-in default)`,
	}, lines(export.Describe()))

	assert.Equal(t, []string{
		`bulkhead.enabled: true (b.graphqls:2)`,
		`bulkhead.name: Query.quotes (b.graphqls:2)`,
		`bulkhead.maxConcurrent: 4 (b.graphqls:2)`,
		`bulkhead.maxQueue: 5 (preset "carrier")`,
		`bulkhead.queueTimeout: 1s (preset "carrier")`,
		`bulkhead.holdAbandoned: false (built-in default)`,
	}, described(t, r, Composition{
		Name: "Query.quotes", Origin: "b.graphqls:2", Preset: "carrier",
		Layers: []Layer{{Origin: "b.graphqls:2", Spec: Spec{Bulkhead: &BulkheadSpec{MaxConcurrent: new(4)}}}},
	}), "a gate of its own")

	carrier, err := r.Preset("carrier")
	require.NoError(t, err)
	assert.Contains(t, lines(carrier.Describe()), `bulkhead.maxConcurrent: 2 (preset "carrier")`, "the owner is as it was")
}

func TestAStageThatWasTurnedOffIsNotDescribed(t *testing.T) {
	r := registryOf(t, Config{Presets: map[string]Spec{"carrier": {Retry: &RetrySpec{}, Bulkhead: &BulkheadSpec{}}}})
	list := described(t, r, Composition{
		Name: "Query.quotes", Origin: "a", Preset: "carrier",
		Layers: []Layer{{Origin: "a", Spec: Spec{Retry: &RetrySpec{Enabled: new(false)}}}},
	})
	assert.Equal(t, `bulkhead.enabled: true (preset "carrier")`, list[0])
	assert.False(t, slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, "retry") }))
}

// What a func has taken the place of is not in force.
func TestABackoffsFuncIsDescribedInPlaceOfItsShape(t *testing.T) {
	p, err := registryOf(t, Config{}).New("carrier", Spec{Retry: &RetrySpec{
		Backoff: &BackoffSpec{Func: (&pacer{}).wait}, RetryIf: func(error, int) bool { return true },
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{
		`retry.enabled: true (policy "carrier")`,
		`retry.attempts: 3 (built-in default)`,
		`retry.backoff.maxDelay: 30s (built-in default)`,
		`retry.backoff.func: func policy.(*pacer).wait (policy "carrier")`,
		`retry.retryIf: func policy.TestABackoffsFuncIsDescribedInPlaceOfItsShape.func1 (policy "carrier")`,
	}, lines(p.Describe()))
}

type pacer struct{}

func (*pacer) wait(int, error) time.Duration { return 0 }

func TestADescriptionsNumbersAndNames(t *testing.T) {
	r := registryOf(t, Config{})
	p, err := r.New("carrier", Spec{
		Timeout:        &TimeoutSpec{Duration: new(time.Second), Total: new(time.Minute)},
		Retry:          &RetrySpec{Attempts: new(5)},
		CircuitBreaker: &CircuitBreakerSpec{Name: new("breaker")},
		Bulkhead:       &BulkheadSpec{Name: new("bulkhead")},
		RateLimit:      &RateLimitSpec{Name: new("limiter"), Limit: new(1), Interval: new(time.Second)},
		Fallback:       &FallbackSpec{Func: flatRate},
	})
	require.NoError(t, err)
	d := p.WithSource("Repricer.run").Describe()
	d.Settings, d.plan = nil, nil
	assert.Equal(t, Description{
		Attempts: 5, Timeout: time.Second, Total: time.Minute, Mode: Cooperative,
		CircuitBreaker: "breaker", Bulkhead: "bulkhead", RateLimit: "limiter", Fallback: true,
	}, d)

	p, err = r.New("export", Spec{Bulkhead: &BulkheadSpec{}})
	require.NoError(t, err)
	d = p.Describe()
	d.Settings, d.plan = nil, nil
	assert.Equal(t, Description{Attempts: 1, Bulkhead: "export"}, d)
}

// Neither the caller's spec nor what was handed out is the policy's own.
func TestADescriptionIsACopy(t *testing.T) {
	spec := Spec{CircuitBreaker: &CircuitBreakerSpec{Window: CountWindow(30)}, Retry: &RetrySpec{Attempts: new(2)}}
	p, err := registryOf(t, Config{}).New("carrier", spec)
	require.NoError(t, err)
	before := lines(p.Describe())
	*spec.Retry.Attempts, spec.CircuitBreaker.Window.Calls = 9, 99
	for _, s := range p.Describe().Settings {
		if window, ok := s.Value.(*Window); ok {
			window.Calls = 77
		}
	}
	assert.Equal(t, before, lines(p.Describe()))
}

// Every setting of every stage must be told, once, and each stage must have a place.
func TestADescriptionForgetsNoSetting(t *testing.T) {
	var stages []string
	for field := range reflect.TypeFor[Spec]().Fields() {
		stages = append(stages, field.Name)
	}
	assert.ElementsMatch(t, stages, pipeline)

	for _, l := range leaves() {
		spec, _ := l.set()
		m := merge([]Layer{{Origin: "here", Spec: spec}})
		var found []Setting
		for _, s := range m.settings() {
			if s.Path == l.path {
				found = append(found, s)
			}
		}
		require.Len(t, found, 1, l.path)
		assert.Equal(t, "here", found[0].Origin, l.path)
		assert.NotNil(t, found[0].Value, l.path)
	}
}

func TestSettingsAsJSONReadAsConfigsDo(t *testing.T) {
	text, err := json.Marshal([]Setting{
		{Path: "timeout.duration", Value: 1500 * time.Millisecond, Origin: "a.graphqls:1"},
		{Path: "timeout.mode", Value: Enforced}, {Path: "retry.backoff.jitter", Value: JitterNone},
		{Path: "circuitBreaker.window", Value: CountWindow(20)}, {Path: "circuitBreaker.window", Value: TimeWindow(time.Minute)},
		{Path: "retry.attempts", Value: 2}, {Path: "retry.attempts", Value: "unlimited"},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `[
		{"path": "timeout.duration", "value": "1.5s", "origin": "a.graphqls:1"},
		{"path": "timeout.mode", "value": "Enforced", "origin": ""}, {"path": "retry.backoff.jitter", "value": "JitterNone", "origin": ""},
		{"path": "circuitBreaker.window", "value": {"count": 20}, "origin": ""}, {"path": "circuitBreaker.window", "value": {"time": "1m0s"}, "origin": ""},
		{"path": "retry.attempts", "value": 2, "origin": ""}, {"path": "retry.attempts", "value": "unlimited", "origin": ""}
	]`, string(text))
}
