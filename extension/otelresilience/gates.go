package otelresilience

import (
	"context"

	"go.opentelemetry.io/otel/metric"

	"github.com/gqlresilience/gqlresilience/policy"
)

// gates are what is read at each collection.
type gates struct {
	registry *policy.Registry

	breakers, bulkheads, limiters *names
}

func newGates(registry *policy.Registry, limit int) *gates {
	return &gates{registry, newNames(limit), newNames(limit), newNames(limit)}
}

// changed are the labels of a breaker's transition.
func (g *gates) changed(e policy.Event) labels {
	return labelled(circuitBreakerKey.String(g.breakers.label(e.Gate)), stateKey.String(e.To.String()))
}

// collect reads everything as it is now. What is not told apart is added up.
func (o *observer) collect(_ context.Context, to metric.Observer) error {
	to.ObserveInt64(o.abandonedRunning, int64(o.gates.registry.Abandoned()))
	o.collectBreakers(to)
	o.collectBulkheads(to)
	o.collectLimiters(to)
	return nil
}

func (o *observer) collectBreakers(to metric.Observer) {
	all := map[string]map[policy.State]int64{}
	for name, breaker := range o.gates.registry.CircuitBreakers() {
		label := o.gates.breakers.label(name)
		if all[label] == nil {
			all[label] = map[policy.State]int64{policy.StateClosed: 0, policy.StateOpen: 0, policy.StateHalfOpen: 0}
		}
		all[label][breaker.State()]++
	}
	for label, states := range all {
		for state, breakers := range states {
			to.ObserveInt64(o.breakerState, breakers,
				metric.WithAttributes(circuitBreakerKey.String(label), stateKey.String(state.String())))
		}
	}
}

func (o *observer) collectBulkheads(to metric.Observer) {
	type load struct{ running, queued, limit int64 }
	all := map[string]load{}
	for name, bulkhead := range o.gates.registry.Bulkheads() {
		label := o.gates.bulkheads.label(name)
		l := all[label]
		l.running += int64(bulkhead.Running())
		l.queued += int64(bulkhead.Queued())
		l.limit += int64(bulkhead.MaxConcurrent())
		all[label] = l
	}
	for label, l := range all {
		labels := metric.WithAttributes(bulkheadKey.String(label))
		to.ObserveInt64(o.bulkheadRunning, l.running, labels)
		to.ObserveInt64(o.bulkheadQueued, l.queued, labels)
		to.ObserveInt64(o.bulkheadLimit, l.limit, labels)
	}
}

func (o *observer) collectLimiters(to metric.Observer) {
	all := map[string]int64{}
	for name, limiter := range o.gates.registry.RateLimiters() {
		all[o.gates.limiters.label(name)] += int64(limiter.Available())
	}
	for label, available := range all {
		to.ObserveInt64(o.limiterAvailable, available, metric.WithAttributes(rateLimiterKey.String(label)))
	}
}
