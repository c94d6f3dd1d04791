package policy

import (
	"cmp"
	"context"
	"maps"
	"time"
)

// plan is a policy with every setting resolved. A stage that is off is nil or zero.
type plan struct {
	fallback *fallback
	total    time.Duration
	retry    *retry
	breaker  *CircuitBreaker
	bulkhead *Bulkhead
	limiter  *RateLimiter

	timeout      time.Duration
	enforced     bool // and the policy has a timeout or a total
	maxAbandoned int
	abandoned    *abandonedAttempts

	made merged // the settings that all of this was made from, those of the gates included
}

// bare reports whether no stage is on.
func (p *plan) bare() bool { return p.made.spec == Spec{} }

type fallback struct {
	fn     func(context.Context, error) (any, error)
	onlyIf func(error) bool
}

// answers reports whether the fallback is to answer for the error.
func (f *fallback) answers(c class, err error) bool {
	if f.onlyIf != nil && c != classCallerDone {
		return f.onlyIf(err)
	}
	return c.answered()
}

type retry struct {
	attempts int
	backoff  backoff
	retryIf  func(err error, attempt int) bool
}

// newPlan makes the plan of settled settings, without gates.
func newPlan(m merged, abandoned *abandonedAttempts) *plan {
	p := &plan{abandoned: abandoned, made: m}
	spec := m.spec
	if t := spec.Timeout; t != nil {
		p.timeout, p.total = valueOr(t.Duration, 0), valueOr(t.Total, 0)
		p.enforced = *t.Mode == Enforced
		p.maxAbandoned = *t.MaxAbandoned
	}
	if r := spec.Retry; r != nil {
		b := r.Backoff
		p.retry = &retry{attempts: *r.Attempts, retryIf: r.RetryIf, backoff: backoff{
			delay: *b.Delay, maxDelay: *b.MaxDelay, factor: *b.Factor, jitter: *b.Jitter, fn: b.Func,
		}}
	}
	if f := spec.Fallback; f != nil {
		p.fallback = &fallback{fn: f.Func, onlyIf: f.FallbackIf}
	}
	return p
}

// settled is a copy of m that also has the defaults which depend on other settings, or on who
// asks: mode is the timeout mode where none is set, Cooperative if it is 0.
func (m merged) settled(mode TimeoutMode) merged {
	m.spec, m.origins = clone(m.spec), maps.Clone(m.origins)
	if t := m.spec.Timeout; t != nil {
		settle(m, "timeout.mode", &t.Mode, cmp.Or(mode, Cooperative))
	}
	if r := m.spec.Retry; r != nil {
		settle(m, "retry.backoff.jitter", &r.Backoff.Jitter, defaultJitter(r.Backoff))
	}
	if b := m.spec.CircuitBreaker; b != nil {
		settle(m, "circuitBreaker.halfOpenMaxWait", &b.HalfOpenMaxWait, *b.OpenDuration)
	}
	if l := m.spec.RateLimit; l != nil {
		settle(m, "rateLimit.burst", &l.Burst, *l.Limit)
	}
	return m
}

// settle gives a setting that nobody has set its default.
func settle[T any](m merged, path string, setting **T, value T) {
	if *setting == nil {
		*setting, m.origins[path] = &value, builtInOrigin
	}
}

func defaultJitter(b *BackoffSpec) Jitter {
	if *b.Factor == 1 {
		return valueOr(b.Jitter, JitterNone)
	}
	return valueOr(b.Jitter, JitterFull)
}

func newBreakerSettings(b *CircuitBreakerSpec) breakerSettings {
	return breakerSettings{
		CircuitBreakerSettings: CircuitBreakerSettings{
			FailureRate: *b.FailureRate, MinimumCalls: *b.MinimumCalls, Window: *b.Window,
			OpenDuration: *b.OpenDuration, HalfOpenMaxCalls: *b.HalfOpenMaxCalls, HalfOpenMaxWait: *b.HalfOpenMaxWait,
		},
		recordIf: b.RecordIf,
	}
}

func newBulkheadSettings(b *BulkheadSpec) bulkheadSettings {
	return bulkheadSettings{
		maxConcurrent: *b.MaxConcurrent, maxQueue: *b.MaxQueue,
		queueTimeout: valueOr(b.QueueTimeout, 0), holdAbandoned: *b.HoldAbandoned,
	}
}

func newRateLimitSettings(r *RateLimitSpec) rateLimitSettings {
	return rateLimitSettings{
		limit: *r.Limit, interval: *r.Interval, burst: *r.Burst, maxWait: *r.MaxWait,
	}
}

func valueOr[T any](pointer *T, otherwise T) T {
	if pointer == nil {
		return otherwise
	}
	return *pointer
}
