package otelresilience

import (
	"context"
	"errors"
	"fmt"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Observe records what the registry's policies do, from now on, until stop is called: in metrics,
// and on the spans in the contexts that calls are made with. Policies and gates that the registry
// gets later are observed too.
//
// Observe a registry once: whoever does it twice with one MeterProvider counts everything twice. Of
// two registries, breakers and the like of one name are one in the metrics; give each registry
// a provider of its own, or other names.
//
// After stop, gauges are no longer read; counters keep what they have counted. Stop shuts no
// provider down. Its error is the provider's.
func Observe(registry *policy.Registry, options ...Option) (stop func() error, err error) {
	c, err := configured(options)
	if registry == nil {
		err = errors.Join(errors.New("the registry is nil"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("otelresilience.Observe: %w", err)
	}
	meter := c.provider.Meter(scope)
	instruments, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("otelresilience.Observe: %w", err)
	}
	o := &observer{instruments: instruments, series: label.NewTable(c.limit, newSeries), gates: newGates(registry, c.limit)}
	registration, err := meter.RegisterCallback(o.collect, instruments.observed()...)
	if err != nil {
		return nil, fmt.Errorf("otelresilience.Observe: %w", err)
	}
	cancel := registry.Subscribe(o.on, kinds...)
	return func() error {
		cancel()
		return registration.Unregister()
	}, nil
}

// kinds are the events that are recorded.
var kinds = []policy.EventKind{
	policy.EventAttempt, policy.EventCall, policy.EventRetry, policy.EventTimeout, policy.EventCircuitRejected,
	policy.EventBulkheadRejected, policy.EventRateLimited, policy.EventFallback, policy.EventAbandoned,
	policy.EventCircuitOpen, policy.EventCircuitHalfOpen, policy.EventCircuitClosed,
}

// observer records the events of a registry.
type observer struct {
	instruments
	series *label.Table[*series]
	gates  *gates
}

func (o *observer) on(ctx context.Context, e policy.Event) {
	switch e.Kind {
	case policy.EventCircuitOpen, policy.EventCircuitHalfOpen, policy.EventCircuitClosed:
		o.transitions.Add(ctx, 1, o.gates.changed(e).add...)
	default:
		o.measure(ctx, e)
		annotate(ctx, e)
	}
}

func (o *observer) measure(ctx context.Context, e policy.Event) {
	s := o.series.Of(e.Policy, e.Source)
	switch e.Kind {
	case policy.EventAttempt:
		labels := s.outcomes[e.Outcome]
		o.attempts.Add(ctx, 1, labels.add...)
		o.attemptDuration.Record(ctx, e.Duration.Seconds(), labels.record...)
	case policy.EventCall:
		labels := s.outcomes[e.Outcome]
		o.calls.Add(ctx, 1, labels.add...)
		o.callDuration.Record(ctx, e.Duration.Seconds(), labels.record...)
	case policy.EventRetry:
		o.retries.Add(ctx, 1, s.plain.add...)
	case policy.EventTimeout:
		o.timeouts.Add(ctx, 1, s.timeouts[timeout(e)].add...)
	case policy.EventCircuitRejected, policy.EventBulkheadRejected, policy.EventRateLimited:
		o.rejections.Add(ctx, 1, s.rejections[rejection(e)].add...)
	case policy.EventFallback:
		o.fallbacks.Add(ctx, 1, s.fallbacks[fallback(e)].add...)
	case policy.EventAbandoned:
		o.abandoned.Add(ctx, 1, s.plain.add...)
	}
}
