package policy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// carrierRegistry has a preset with all three gates.
func carrierRegistry(t *testing.T) *policy.Registry {
	t.Helper()
	return newRegistry(t, policy.Config{Presets: map[string]policy.Spec{"carrier": {
		CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2), Window: policy.CountWindow(2), OpenDuration: new(time.Minute)},
		Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(4), MaxQueue: new(1)},
		RateLimit:      limitSpec(100, time.Second),
	}}})
}

// gateNames lists the registry's gates as "breakers; bulkheads; limiters".
func gateNames(r *policy.Registry) string {
	var breakers, bulkheads, limiters []string
	for name := range r.CircuitBreakers() {
		breakers = append(breakers, name)
	}
	for name := range r.Bulkheads() {
		bulkheads = append(bulkheads, name)
	}
	for name := range r.RateLimiters() {
		limiters = append(limiters, name)
	}
	return strings.Join([]string{strings.Join(breakers, " "), strings.Join(bulkheads, " "), strings.Join(limiters, " ")}, "; ")
}

func TestFieldsAndJobsOfAPresetShareItsGates(t *testing.T) {
	registry := carrierRegistry(t)
	field := compose(t, registry, policy.Composition{Name: "Query.quotes", Origin: "a", Preset: "carrier"})
	another := compose(t, registry, policy.Composition{
		Name: "Order.quotes", Origin: "b", Preset: "carrier",
		Layers: layer("b", policy.Spec{
			Timeout:        &policy.TimeoutSpec{Duration: new(time.Second)},
			CircuitBreaker: &policy.CircuitBreakerSpec{Enabled: new(true)}, // mentioned, not changed
		}),
	})
	job, err := registry.Preset("carrier")
	require.NoError(t, err)

	assert.Equal(t, "carrier; carrier; carrier", gateNames(registry))
	assert.Equal(t, "carrier", field.Name())
	assert.Equal(t, "Query.quotes", field.Source())
	assert.Equal(t, "", job.Source())

	times(1, field, fail)
	times(1, job, fail)
	assert.ErrorIs(t, run(t.Context(), another, succeed), policy.ErrCircuitOpen)
}

func TestAFieldThatChangesASettingGetsAGateOfItsOwn(t *testing.T) {
	registry := carrierRegistry(t)
	field := compose(t, registry, policy.Composition{
		Name: "Query.quotes", Origin: "Query.quotes", Preset: "carrier",
		Layers: layer("Query.quotes", bulkheadSpec(policy.BulkheadSpec{MaxQueue: new(7)})),
	})
	assert.Equal(t, "carrier; Query.quotes carrier; carrier", gateNames(registry))
	own, _ := registry.Bulkhead("Query.quotes")
	assert.Equal(t, 7, own.MaxQueue())
	assert.Equal(t, 4, own.MaxConcurrent(), "the preset's settings are inherited")

	times(2, field, fail)
	job, _ := registry.Preset("carrier")
	assert.ErrorIs(t, run(t.Context(), job, succeed), policy.ErrCircuitOpen, "the breaker is still the preset's")
}

func TestAChangedGateNeverInheritsTheName(t *testing.T) {
	registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{
		"carrier": bulkheadSpec(policy.BulkheadSpec{Name: new("docks"), MaxConcurrent: new(2)}),
	}})
	assert.Equal(t, "; docks; ", gateNames(registry))

	compose(t, registry,
		policy.Composition{Name: "Query.same", Origin: "same", Preset: "carrier"})
	assert.Equal(t, "; docks; ", gateNames(registry), "an unchanged one is shared under the preset's Name")

	compose(t, registry, policy.Composition{
		Name: "Query.quotes", Origin: "quotes", Preset: "carrier",
		Layers: layer("quotes", bulkheadSpec(policy.BulkheadSpec{MaxQueue: new(1)})),
	})
	assert.Equal(t, "; Query.quotes docks; ", gateNames(registry))
}

func TestAFieldMayNameItsGate(t *testing.T) {
	registry := carrierRegistry(t)
	compose(t, registry, policy.Composition{
		Name: "Query.quotes", Origin: "quotes", Preset: "carrier",
		Layers: layer("quotes", bulkheadSpec(policy.BulkheadSpec{Name: new("gate"), MaxConcurrent: new(9)})),
	})
	compose(t, registry, policy.Composition{
		Name: "Query.other", Origin: "other",
		Layers: layer("other", bulkheadSpec(policy.BulkheadSpec{Name: new("gate")})),
	})
	assert.Equal(t, "carrier; carrier gate; carrier", gateNames(registry))
	gate, _ := registry.Bulkhead("gate")
	assert.Equal(t, 9, gate.MaxConcurrent(), "who only names a gate takes it as it is")
}

func TestWhoOnlyNamesMayComeBeforeWhoConfigures(t *testing.T) {
	registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{
		"a": bulkheadSpec(policy.BulkheadSpec{Name: new("z")}),
		"z": bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(3)}),
	}})
	z, _ := registry.Bulkhead("z")
	assert.Equal(t, 3, z.MaxConcurrent())
	assert.Equal(t, "; z; ", gateNames(registry))
}

func TestAGateThatEverybodyOnlyNames(t *testing.T) {
	config := policy.Config{
		Defaults: bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(6)}),
		Presets: map[string]policy.Spec{
			"a": bulkheadSpec(policy.BulkheadSpec{Name: new("shared")}),
			"b": bulkheadSpec(policy.BulkheadSpec{Name: new("shared")}),
		},
	}
	shared, _ := newRegistry(t, config).Bulkhead("shared")
	assert.Equal(t, 6, shared.MaxConcurrent())

	t.Run("with settings that differ below", func(t *testing.T) {
		registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{
			"small": bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(1)}),
			"large": bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(99)}),
		}})
		name := layer("field", bulkheadSpec(policy.BulkheadSpec{Name: new("shared")}))
		_, err := registry.Compose(
			policy.Composition{Name: "Query.a", Origin: "Query.a", Preset: "small", Layers: name},
			policy.Composition{Name: "Query.b", Origin: "Query.b", Preset: "large", Layers: layer("other field", name[0].Spec)},
		)
		assert.EqualError(t, err, `bulkhead "shared": named by field and by other field, whose settings for it differ: configure it in one of them`)
	})
}

func TestTwoConfigurationsOfAGateAreAMistake(t *testing.T) {
	breaker := breakerSpec(policy.CircuitBreakerSpec{Name: new("shared"), FailureRate: new(10)})
	limiter := policy.Spec{RateLimit: &policy.RateLimitSpec{Name: new("shared"), Limit: new(1), Interval: new(time.Second)}}
	bulkhead := bulkheadSpec(policy.BulkheadSpec{Name: new("shared"), MaxConcurrent: new(1)})
	for stage, spec := range map[string]policy.Spec{"circuitBreaker": breaker, "rateLimit": limiter, "bulkhead": bulkhead} {
		t.Run(stage, func(t *testing.T) {
			want := stage + ` "shared": configured by preset "a" and again by preset "b": configure it in one place and only name it in the other`
			_, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{"a": spec, "b": spec}})
			assert.EqualError(t, err, "policy.NewRegistry:\n"+want, "equal settings in two places drift apart")

			registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{"a": spec}})
			_, err = registry.New("b", spec)
			assert.EqualError(t, err, strings.Replace(want, `preset "b"`, `policy "b"`, 1))
		})
	}
}

func TestANameConfiguredTwiceIsToldWhateverElseIsWrong(t *testing.T) {
	twice := bulkheadSpec(policy.BulkheadSpec{Name: new("shared"), MaxConcurrent: new(1)})
	_, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"a": twice, "b": twice, "bad": {Retry: &policy.RetrySpec{Attempts: new(0)}},
	}})
	assert.ErrorContains(t, err, `retry.attempts: 0 (preset "bad")`)
	assert.ErrorContains(t, err, `bulkhead "shared": configured by preset "a" and again by preset "b"`)

	// The preset that would have configured it may be the bad one.
	named := bulkheadSpec(policy.BulkheadSpec{Name: new("shared")})
	registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{
		"small": bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(1)}), "large": bulkheadSpec(policy.BulkheadSpec{}),
	}})
	_, err = registry.Compose(
		policy.Composition{Name: "Query.a", Origin: "a", Preset: "small", Layers: layer("a", named)},
		policy.Composition{Name: "Query.b", Origin: "b", Preset: "large", Layers: layer("b", named)},
		policy.Composition{Name: "Query.c", Origin: "c", Layers: layer("c", bulkheadSpec(policy.BulkheadSpec{Name: new("shared"), MaxConcurrent: new(0)}))},
	)
	assert.EqualError(t, err, "bulkhead.maxConcurrent: 0 (c): must be at least 1")
}

func TestAJobMustNotTakeAPresetsNameForOtherSettings(t *testing.T) {
	registry := carrierRegistry(t)
	_, err := registry.New("carrier", bulkheadSpec(policy.BulkheadSpec{}))
	assert.ErrorContains(t, err, `bulkhead "carrier": configured by preset "carrier" and again by policy "carrier"`)
}

func TestComposingTheSameTwiceSharesTheGates(t *testing.T) {
	registry := carrierRegistry(t)
	c := policy.Composition{
		Name: "Query.quotes", Origin: "Query.quotes", Preset: "carrier",
		Layers: layer("Query.quotes", breakerSpec(policy.CircuitBreakerSpec{
			FailureRate: new(100), RecordIf: func(error) bool { return true },
		})),
	}
	first, second := compose(t, registry, c), compose(t, registry, c)
	times(2, first, fail)
	assert.ErrorIs(t, run(t.Context(), second, succeed), policy.ErrCircuitOpen)

	_, err := registry.New("job", bulkheadSpec(policy.BulkheadSpec{}))
	require.NoError(t, err)
	_, err = registry.New("job", bulkheadSpec(policy.BulkheadSpec{}))
	require.NoError(t, err)
	_, err = registry.New("job", bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(3)}))
	assert.ErrorContains(t, err, `bulkhead "job": configured by policy "job" and again by policy "job"`)
}

// Two schemas annotate one field, each in its own file; what Go code gives the field is one thing.
func TestAnotherRecordIfIsAnotherConfiguration(t *testing.T) {
	registry := carrierRegistry(t)
	spec := breakerSpec(policy.CircuitBreakerSpec{RecordIf: func(error) bool { return true }})
	_, err := registry.New("job", spec)
	require.NoError(t, err)
	_, err = registry.New("job", spec)
	require.NoError(t, err)
	_, err = registry.New("job", breakerSpec(policy.CircuitBreakerSpec{RecordIf: func(error) bool { return false }}))
	assert.ErrorContains(t, err, `circuitBreaker "job": configured by policy "job" and again by policy "job"`)
}

func TestCompositionsFromTwoPlacesShareWhatOneLayerConfigures(t *testing.T) {
	registry := carrierRegistry(t)
	own := layer("WithField", bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(2)}))
	_, err := registry.Compose(
		policy.Composition{Name: "Query.quotes", Origin: "a.graphqls:1", Preset: "carrier", Layers: own},
		policy.Composition{Name: "Query.quotes", Origin: "b.graphqls:1", Preset: "carrier", Layers: own},
	)
	assert.NoError(t, err)
	_, err = registry.Compose(policy.Composition{
		Name: "Query.quotes", Origin: "c.graphqls:1", Layers: layer("elsewhere", own[0].Spec),
	})
	assert.EqualError(t, err, `bulkhead "Query.quotes": configured by WithField and again by elsewhere: configure it in one place and only name it in the other`)
}

func TestComposeLeavesTheCallersLayersAlone(t *testing.T) {
	registry := carrierRegistry(t)
	layers := append(make([]policy.Layer, 0, 2), layer("field", policy.Spec{Retry: &policy.RetrySpec{}})...)
	compose(t, registry, policy.Composition{Name: "Query.quotes", Preset: "carrier", Layers: layers})
	assert.Equal(t, policy.Layer{}, layers[:2][1])
}

func TestAFailingComposeMakesNothing(t *testing.T) {
	registry := carrierRegistry(t)
	before := gateNames(registry)
	good := policy.Composition{
		Name: "Query.good", Origin: "good",
		Layers: layer("good", policy.Spec{
			CircuitBreaker: &policy.CircuitBreakerSpec{}, Bulkhead: &policy.BulkheadSpec{}, RateLimit: limitSpec(1, time.Second),
		}),
	}
	for name, bad := range map[string]policy.Composition{
		"a bad value":           {Name: "Query.bad", Origin: "bad", Layers: layer("bad", bulkheadSpec(policy.BulkheadSpec{MaxQueue: new(-1)}))},
		"nothing on":            {Name: "Query.bad", Origin: "bad"},
		"an unknown preset":     {Name: "Query.bad", Origin: "bad", Preset: "carier"},
		"a second configurator": {Name: "Query.bad", Origin: "bad", Layers: layer("bad", bulkheadSpec(policy.BulkheadSpec{Name: new("carrier"), MaxQueue: new(1)}))},
	} {
		t.Run(name, func(t *testing.T) {
			for _, list := range [][]policy.Composition{{good, bad}, {bad, good}} {
				policies, err := registry.Compose(list...)
				require.Error(t, err)
				assert.Nil(t, policies)
				assert.Equal(t, before, gateNames(registry))
			}
		})
	}
	compose(t, registry, good)
	assert.Equal(t, "Query.good carrier; Query.good carrier; Query.good carrier", gateNames(registry))
}

func TestAnUnknownPresetTellsTheNearest(t *testing.T) {
	registry := carrierRegistry(t)
	_, err := registry.Preset("carier")
	assert.EqualError(t, err, `unknown preset "carier": did you mean "carrier"?`)
	_, err = registry.Preset("warehouse")
	assert.EqualError(t, err, `unknown preset "warehouse": known are carrier`)
	_, err = registry.Compose(policy.Composition{Name: "Query.quotes", Origin: "a.graphqls:7", Preset: "carier"})
	assert.EqualError(t, err, `a.graphqls:7: unknown preset "carier": did you mean "carrier"?`)
	_, err = registry.Compose(policy.Composition{Name: "Query.quotes", Origin: "a.graphqls:7", PresetOrigin: "a.graphqls:2", Preset: "x"})
	assert.EqualError(t, err, `a.graphqls:2: unknown preset "x": known are carrier`)
}

func TestPresetsAndGatesAreListedByName(t *testing.T) {
	registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{
		"c": bulkheadSpec(policy.BulkheadSpec{}), "a": breakerSpec(policy.CircuitBreakerSpec{}), "b": {Retry: &policy.RetrySpec{}},
	}})
	presets := maps.Collect(registry.Presets())
	assert.Len(t, presets, 3)
	for name, p := range presets {
		assert.Equal(t, name, p.Name())
	}
	var names []string
	for name := range registry.Presets() {
		if names = append(names, name); len(names) == 2 {
			break
		}
	}
	assert.Equal(t, []string{"a", "b"}, names)
	assert.True(t, slices.IsSorted(names))

	for name, breaker := range registry.CircuitBreakers() {
		assert.Equal(t, name, breaker.Name())
		break
	}
	_, ok := registry.CircuitBreaker("c")
	assert.False(t, ok)
	_, ok = registry.RateLimiter("c")
	assert.False(t, ok)
}

func TestWithSourceIsTheSamePolicy(t *testing.T) {
	registry := carrierRegistry(t)
	job, _ := registry.Preset("carrier")
	named := job.WithSource("Repricer.run")
	times(2, named, fail)
	err := run(t.Context(), job, succeed)
	assert.ErrorIs(t, err, policy.ErrCircuitOpen)

	e := asPolicyError(t, run(t.Context(), named, succeed))
	assert.Equal(t, "carrier", e.Policy)
	assert.Equal(t, "Repricer.run", e.Source)
	assert.Equal(t, `policy "carrier" for Repricer.run: the circuit is open`, e.Error())
	assert.Equal(t, `policy "carrier": the circuit is open`, err.Error())
}

func TestAGateInUseCannotBeConfiguredAnymore(t *testing.T) {
	registry := newRegistry(t, policy.Config{})
	_, err := registry.New("first", policy.Spec{Bulkhead: &policy.BulkheadSpec{Name: new("shared")}})
	require.NoError(t, err)
	_, err = registry.New("second", policy.Spec{Bulkhead: &policy.BulkheadSpec{Name: new("shared"), MaxConcurrent: new(3)}})
	require.EqualError(t, err, `bulkhead "shared": policy "second" configures it, but it is already in use by policy "first", which only names it: configure it there`)
}

func TestASpecMayBeChangedAfterTheRegistryWasMade(t *testing.T) {
	delay := &policy.BackoffSpec{Delay: new(time.Second)}
	defaults := policy.Spec{Retry: &policy.RetrySpec{Backoff: delay}}
	carrier := policy.Spec{Retry: &policy.RetrySpec{Attempts: new(2)}}
	registry := newRegistry(t, policy.Config{Defaults: defaults, Presets: map[string]policy.Spec{"carrier": carrier}})
	*delay.Delay, *carrier.Retry.Attempts, carrier.Retry.Enabled = -1, 0, new(false)
	_, err := registry.Compose(policy.Composition{Name: "Query.quotes", Preset: "carrier"})
	require.NoError(t, err)
}
