package otelresilience

import (
	"context"

	"go.opentelemetry.io/otel/metric"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// gates are what is read at each collection.
type gates struct {
	registry *policy.Registry

	breakers, bulkheads, limiters label.Names
}

func newGates(registry *policy.Registry, limit int) *gates {
	return &gates{registry, label.NewNames(limit), label.NewNames(limit), label.NewNames(limit)}
}

// changed are the labels of a breaker's transition.
func (g *gates) changed(e policy.Event) labels {
	return labelled(circuitBreakerKey.String(g.breakers.Of(e.Gate)), stateKey.String(e.To.String()))
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
		shown := o.gates.breakers.Of(name)
		if all[shown] == nil {
			all[shown] = map[policy.State]int64{policy.StateClosed: 0, policy.StateOpen: 0, policy.StateHalfOpen: 0}
		}
		all[shown][breaker.State()]++
	}
	for shown, states := range all {
		for state, breakers := range states {
			to.ObserveInt64(o.breakerState, breakers,
				metric.WithAttributes(circuitBreakerKey.String(shown), stateKey.String(state.String())))
		}
	}
}

func (o *observer) collectBulkheads(to metric.Observer) {
	type load struct{ running, queued, limit int64 }
	all := map[string]load{}
	for name, bulkhead := range o.gates.registry.Bulkheads() {
		shown := o.gates.bulkheads.Of(name)
		l := all[shown]
		l.running += int64(bulkhead.Running())
		l.queued += int64(bulkhead.Queued())
		l.limit += int64(bulkhead.MaxConcurrent())
		all[shown] = l
	}
	for shown, l := range all {
		labels := metric.WithAttributes(bulkheadKey.String(shown))
		to.ObserveInt64(o.bulkheadRunning, l.running, labels)
		to.ObserveInt64(o.bulkheadQueued, l.queued, labels)
		to.ObserveInt64(o.bulkheadLimit, l.limit, labels)
	}
}

func (o *observer) collectLimiters(to metric.Observer) {
	all := map[string]int64{}
	for name, limiter := range o.gates.registry.RateLimiters() {
		all[o.gates.limiters.Of(name)] += int64(limiter.Available())
	}
	for shown, available := range all {
		to.ObserveInt64(o.limiterAvailable, available, metric.WithAttributes(rateLimiterKey.String(shown)))
	}
}
