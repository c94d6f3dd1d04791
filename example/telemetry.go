package main

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gqlresilience/gqlresilience/extension/otelresilience"
	"github.com/gqlresilience/gqlresilience/policy"
)

// telemetry is how the store tells what goes on in it.
type telemetry struct {
	metrics http.Handler             // which Prometheus scrapes
	stop    func() error             // ends the observation of policies
	tracers *sdktrace.TracerProvider // that makes no spans where nobody reads them
}

// newTelemetry observes the registry's policies. Traces are written to traces, unless that is nil.
func newTelemetry(registry *policy.Registry, traces io.Writer) (*telemetry, error) {
	service := resource.NewSchemaless(attribute.String("service.name", "store"))
	collectors := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(collectors))
	if err != nil {
		return nil, err
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(service))
	stop, err := otelresilience.Observe(registry, otelresilience.WithMeterProvider(meters))
	if err != nil {
		return nil, err
	}
	spans := sdktrace.WithSampler(sdktrace.NeverSample())
	if traces != nil {
		exporter, err := stdouttrace.New(stdouttrace.WithWriter(traces), stdouttrace.WithPrettyPrint())
		if err != nil {
			return nil, err
		}
		// At once, for somebody is watching. Servers send theirs in batches.
		spans = sdktrace.WithSyncer(exporter)
	}
	return &telemetry{
		metrics: promhttp.HandlerFor(collectors, promhttp.HandlerOpts{}),
		stop:    stop,
		tracers: sdktrace.NewTracerProvider(sdktrace.WithResource(service), spans),
	}, nil
}

func (t *telemetry) shutDown(ctx context.Context) error {
	return errors.Join(t.stop(), t.tracers.Shutdown(ctx))
}
