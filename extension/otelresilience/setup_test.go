package otelresilience_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/otelresilience"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

const secret = "hunter2"

var errDown = errors.New("the dependency is down, password " + secret)

// newRegistry makes a registry whose preset "dependency", which the test schema names, is spec.
func newRegistry(t *testing.T, spec policy.Spec) *policy.Registry {
	t.Helper()
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{"dependency": spec}})
	require.NoError(t, err)
	return registry
}

func dependency(t *testing.T, registry *policy.Registry) *policy.Policy {
	t.Helper()
	p, err := registry.Preset("dependency")
	require.NoError(t, err)
	return p.WithSource("Job.run")
}

// metrics are what an SDK collects.
type metrics struct {
	t      *testing.T
	reader *sdkmetric.ManualReader
}

// observe observes the registry with an SDK of its own until the test ends.
func observe(t *testing.T, registry *policy.Registry, options ...otelresilience.Option) *metrics {
	t.Helper()
	m := &metrics{t, sdkmetric.NewManualReader()}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(m.reader))
	stop, err := otelresilience.Observe(registry, append(options, otelresilience.WithMeterProvider(provider))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	return m
}

// all are the metrics as they are now, by name.
func (m *metrics) all() map[string]metricdata.Metrics {
	m.t.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(m.t, m.reader.Collect(context.Background(), &collected))
	all := map[string]metricdata.Metrics{}
	for _, scope := range collected.ScopeMetrics {
		for _, one := range scope.Metrics {
			all[one.Name] = one
		}
	}
	return all
}

// points are values by attributes, such as "policy=dependency,field=Query.text".
type points map[string]float64

// points of the metric of that name, without the prefix that all have. Of a histogram it is how
// much was recorded.
func (m *metrics) points(name string) points {
	m.t.Helper()
	return pointsOf(m.all()["gqlresilience."+name].Data, false)
}

// sums of what was recorded, of a histogram.
func (m *metrics) sums(name string) points {
	m.t.Helper()
	return pointsOf(m.all()["gqlresilience."+name].Data, true)
}

func pointsOf(data metricdata.Aggregation, sums bool) points {
	all := points{}
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, point := range data.DataPoints {
			all[text(point.Attributes.ToSlice())] = float64(point.Value)
		}
	case metricdata.Gauge[int64]:
		for _, point := range data.DataPoints {
			all[text(point.Attributes.ToSlice())] = float64(point.Value)
		}
	case metricdata.Histogram[float64]:
		for _, point := range data.DataPoints {
			all[text(point.Attributes.ToSlice())] = float64(point.Count)
			if sums {
				all[text(point.Attributes.ToSlice())] = point.Sum
			}
		}
	}
	return all
}

func text(attributes []attribute.KeyValue) string {
	var all []string
	for _, one := range attributes {
		all = append(all, strings.TrimPrefix(string(one.Key), "gqlresilience.")+"="+one.Value.String())
	}
	return strings.Join(all, ",")
}

// underEachHook runs a test with policies in the field middleware and in guards, in a bubble.
func underEachHook(t *testing.T, test func(t *testing.T, schema func(*testgraph.Stub) graphql.ExecutableSchema)) {
	t.Helper()
	for name, schema := range map[string]func(*testgraph.Stub) graphql.ExecutableSchema{
		"middleware": testgraph.NewSchema, "guard": testgraph.NewGuardedSchema,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, schema) })
		})
	}
}

// serve returns a server whose Query.text is under the preset.
func serve(schema graphql.ExecutableSchema, registry *policy.Registry, options ...extension.Option) *handler.Server {
	server := testgraph.Serve(schema)
	server.Use(extension.New(registry, append(options, extension.WithLogger(slog.New(slog.DiscardHandler)),
		extension.WithField("Query.text", extension.Field{Preset: "dependency"}))...))
	return server
}

// textBy is a stub whose Query.text is resolver.
func textBy(resolver func(context.Context) (*string, error)) *testgraph.Stub {
	stub := &testgraph.Stub{}
	stub.QueryResolver.Text = resolver
	return stub
}

func fail(context.Context) (*string, error) { return nil, errDown }

func succeed(context.Context) (*string, error) { return new("fine"), nil }

func flat(context.Context, error) (*string, error) { return new("flat"), nil }

// sleep takes a second, and obeys its context.
func sleep(ctx context.Context) (*string, error) {
	select {
	case <-time.After(time.Second):
		return new("fine"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// deaf takes a minute, whatever its context says.
func deaf(context.Context) (*string, error) {
	time.Sleep(time.Minute)
	return new("late"), nil
}

// retry is for that many attempts, a second apart.
func retry(attempts int) *policy.RetrySpec {
	return &policy.RetrySpec{Attempts: &attempts, Backoff: &policy.BackoffSpec{Delay: new(time.Second), Jitter: new(policy.JitterNone), Factor: new(1.0)}}
}

func timeout(duration time.Duration, mode policy.TimeoutMode) *policy.TimeoutSpec {
	return &policy.TimeoutSpec{Duration: &duration, Mode: &mode}
}
