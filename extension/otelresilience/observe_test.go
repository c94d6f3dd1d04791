package otelresilience_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/gqlresilience/gqlresilience/extension/otelresilience"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestNothingIsRecordedAfterStop(t *testing.T) {
	registry := newRegistry(t, policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	metrics := &metrics{t, sdkmetric.NewManualReader()}
	stop, err := otelresilience.Observe(registry, otelresilience.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(metrics.reader))))
	require.NoError(t, err)
	execute(t.Context(), dependency(t, registry), succeed)
	require.NoError(t, stop())
	execute(t.Context(), dependency(t, registry), succeed)
	assert.Equal(t, points{"field=Job.run,outcome=success,policy=dependency": 1}, metrics.points("calls"))
	assert.Empty(t, metrics.points("circuit_breaker.state"))
	assert.NoError(t, stop(), "once more")
}

// global is what the global provider is read by, once it is set. That can be done later than its use
// once in a process.
var (
	global    = sdkmetric.NewManualReader()
	setGlobal = sync.OnceFunc(func() {
		otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(global)))
	})
)

func TestTheGlobalProviderMayBeSetLater(t *testing.T) {
	registry := newRegistry(t, policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	stop, err := otelresilience.Observe(registry)
	require.NoError(t, err)
	setGlobal()
	metrics := &metrics{t, global}
	const calls = "field=Job.run,outcome=success,policy=dependency"
	before := metrics.points("calls")[calls] // 0, unless the test is run again
	execute(t.Context(), dependency(t, registry), succeed)
	assert.Equal(t, before+1, metrics.points("calls")[calls])
	assert.Equal(t, states(map[string]string{"dependency": "closed"}), metrics.points("circuit_breaker.state"))
	require.NoError(t, stop())
}

// refusing is a provider whose meter makes no counters or takes no callback.
type refusing struct {
	noop.MeterProvider
	counter, callback error
}

type refusingMeter struct {
	noop.Meter
	by refusing
}

func (r refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{by: r} }

func (m refusingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return noop.Int64Counter{}, m.by.counter
}

func (m refusingMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return noop.Registration{}, m.by.callback
}

func TestWhatIsWrongIsToldAtOnce(t *testing.T) {
	registry := newRegistry(t, policy.Spec{Retry: retry(1)})
	refused := errors.New("no more instruments")
	for name, tc := range map[string]struct {
		registry *policy.Registry
		options  []otelresilience.Option
		says     []string
	}{
		"everything": {nil, []otelresilience.Option{nil, otelresilience.WithMeterProvider(nil), otelresilience.WithCardinalityLimit(0)}, []string{
			"otelresilience.Observe: the registry is nil", "an option is nil", "WithMeterProvider: the provider is nil",
			"WithCardinalityLimit: 0: must be at least 1"}},
		"a counter":  {registry, []otelresilience.Option{otelresilience.WithMeterProvider(refusing{counter: refused})}, []string{"otelresilience.Observe: no more instruments"}},
		"a callback": {registry, []otelresilience.Option{otelresilience.WithMeterProvider(refusing{callback: refused})}, []string{"otelresilience.Observe: no more instruments"}},
	} {
		t.Run(name, func(t *testing.T) {
			stop, err := otelresilience.Observe(tc.registry, tc.options...)
			assert.Nil(t, stop)
			for _, says := range tc.says {
				assert.ErrorContains(t, err, says)
			}
		})
	}
}
