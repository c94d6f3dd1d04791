package policy

import (
	"context"
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
}

type fallback struct {
	fn     func(context.Context, error) (any, error)
	onlyIf func(error) bool
}

// answers reports whether the fallback is to answer for the error.
func (f *fallback) answers(res result, err error) bool {
	if f.onlyIf != nil && res.class != classCallerDone {
		return f.onlyIf(err)
	}
	return res.class.answered()
}

type retry struct {
	attempts int
	backoff  backoff
	retryIf  func(err error, attempt int) bool
}

// newPlan makes the plan of merged settings, without gates.
func newPlan(spec Spec, mode TimeoutMode, abandoned *abandonedAttempts) *plan {
	p := &plan{abandoned: abandoned}
	if t := spec.Timeout; t != nil {
		p.timeout, p.total = valueOr(t.Duration, 0), valueOr(t.Total, 0)
		p.enforced = valueOr(t.Mode, mode) == Enforced
		p.maxAbandoned = *t.MaxAbandoned
	}
	if r := spec.Retry; r != nil {
		b := r.Backoff
		p.retry = &retry{attempts: *r.Attempts, retryIf: r.RetryIf, backoff: backoff{
			delay: *b.Delay, maxDelay: *b.MaxDelay, factor: *b.Factor, jitter: defaultJitter(b), fn: b.Func,
		}}
	}
	if f := spec.Fallback; f != nil {
		p.fallback = &fallback{fn: f.Func, onlyIf: f.FallbackIf}
	}
	return p
}

func defaultJitter(b *BackoffSpec) Jitter {
	if *b.Factor == 1 {
		return valueOr(b.Jitter, JitterNone)
	}
	return valueOr(b.Jitter, JitterFull)
}

func newBreakerSettings(b *CircuitBreakerSpec) breakerSettings {
	return breakerSettings{
		failureRate: *b.FailureRate, minimumCalls: *b.MinimumCalls, window: *b.Window,
		openDuration: *b.OpenDuration, halfOpenMaxCalls: *b.HalfOpenMaxCalls,
		halfOpenMaxWait: valueOr(b.HalfOpenMaxWait, *b.OpenDuration), recordIf: b.RecordIf,
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
		limit: *r.Limit, interval: *r.Interval, burst: valueOr(r.Burst, *r.Limit), maxWait: *r.MaxWait,
	}
}

func valueOr[T any](pointer *T, otherwise T) T {
	if pointer == nil {
		return otherwise
	}
	return *pointer
}
