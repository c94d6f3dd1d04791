package otelresilience

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// scope names the instruments' meter.
const scope = "github.com/gqlresilience/gqlresilience/extension/otelresilience"

// buckets are the bounds of durations, in seconds: those that OpenTelemetry has for HTTP, and more
// for attempts that wait for a timeout.
var buckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// instruments are what is measured with. docs/observing.md has a table of them.
type instruments struct {
	calls            metric.Int64Counter
	callDuration     metric.Float64Histogram
	attempts         metric.Int64Counter
	attemptDuration  metric.Float64Histogram
	retries          metric.Int64Counter
	timeouts         metric.Int64Counter
	rejections       metric.Int64Counter
	fallbacks        metric.Int64Counter
	abandoned        metric.Int64Counter
	transitions      metric.Int64Counter
	abandonedRunning metric.Int64ObservableUpDownCounter
	breakerState     metric.Int64ObservableGauge
	bulkheadRunning  metric.Int64ObservableUpDownCounter
	bulkheadQueued   metric.Int64ObservableUpDownCounter
	bulkheadLimit    metric.Int64ObservableUpDownCounter
	limiterAvailable metric.Int64ObservableGauge
}

func newInstruments(meter metric.Meter) (i instruments, err error) {
	var errs [16]error
	i.calls, errs[0] = meter.Int64Counter("gqlresilience.calls", metric.WithUnit("{call}"),
		metric.WithDescription("Calls that have ended, each with all its attempts."))
	i.callDuration, errs[1] = meter.Float64Histogram("gqlresilience.call.duration", metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(buckets...),
		metric.WithDescription("Time that calls took, with all attempts, waits and the fallback."))
	i.attempts, errs[2] = meter.Int64Counter("gqlresilience.attempts", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts that have ended. A rejected one is not made."))
	i.attemptDuration, errs[3] = meter.Float64Histogram("gqlresilience.attempt.duration", metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(buckets...),
		metric.WithDescription("Time that attempts took, until they returned or were abandoned."))
	i.retries, errs[4] = meter.Int64Counter("gqlresilience.retries", metric.WithUnit("{retry}"),
		metric.WithDescription("Decisions to make another attempt."))
	i.timeouts, errs[5] = meter.Int64Counter("gqlresilience.timeouts", metric.WithUnit("{timeout}"),
		metric.WithDescription("Times that an attempt, a call or an operation had no time left."))
	i.rejections, errs[6] = meter.Int64Counter("gqlresilience.rejections", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts that a breaker, bulkhead or limiter did not let pass."))
	i.fallbacks, errs[7] = meter.Int64Counter("gqlresilience.fallbacks", metric.WithUnit("{call}"),
		metric.WithDescription("Calls whose fallback has answered or failed."))
	i.abandoned, errs[8] = meter.Int64Counter("gqlresilience.abandoned.attempts", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts that did not return when their time was up."))
	i.transitions, errs[9] = meter.Int64Counter("gqlresilience.circuit_breaker.transitions", metric.WithUnit("{transition}"),
		metric.WithDescription("Changes of a circuit breaker's state, by the new one."))
	i.abandonedRunning, errs[10] = meter.Int64ObservableUpDownCounter("gqlresilience.abandoned.running", metric.WithUnit("{attempt}"),
		metric.WithDescription("Abandoned attempts that are still running."))
	i.breakerState, errs[11] = meter.Int64ObservableGauge("gqlresilience.circuit_breaker.state", metric.WithUnit("{breaker}"),
		metric.WithDescription("1 for the state that a circuit breaker is in, 0 for the others."))
	i.bulkheadRunning, errs[12] = meter.Int64ObservableUpDownCounter("gqlresilience.bulkhead.running", metric.WithUnit("{attempt}"),
		metric.WithDescription("Slots of a bulkhead that are taken."))
	i.bulkheadQueued, errs[13] = meter.Int64ObservableUpDownCounter("gqlresilience.bulkhead.queued", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts that wait for a slot of a bulkhead."))
	i.bulkheadLimit, errs[14] = meter.Int64ObservableUpDownCounter("gqlresilience.bulkhead.limit", metric.WithUnit("{attempt}"),
		metric.WithDescription("Slots that a bulkhead has."))
	i.limiterAvailable, errs[15] = meter.Int64ObservableGauge("gqlresilience.rate_limiter.available", metric.WithUnit("{token}"),
		metric.WithDescription("Calls that a rate limiter would let pass at once."))
	return i, errors.Join(errs[:]...)
}

// observed are the instruments that are read at each collection.
func (i *instruments) observed() []metric.Observable {
	return []metric.Observable{
		i.abandonedRunning, i.breakerState, i.bulkheadRunning, i.bulkheadQueued, i.bulkheadLimit, i.limiterAvailable,
	}
}
