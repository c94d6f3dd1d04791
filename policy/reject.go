package policy

import "time"

// The rejections of a run. A gate that rejects has let nothing through and holds nothing. The
// failure of the attempt before, if there was one, becomes the rejection's cause.

func (r *run) rejectOpen(b *CircuitBreaker, attempt int, retryAfter time.Duration) result {
	err := &Error{Kind: KindCircuitOpen, RetryAfter: retryAfter}
	return r.reject(err, Event{Kind: EventCircuitRejected, Gate: b.name, Attempt: attempt, RetryAfter: retryAfter})
}

func (r *run) rejectFull(b *Bulkhead, attempt int, why admission) result {
	err := &Error{Kind: KindBulkheadFull}
	if why == refusedQueue {
		err.Reason = "queue timeout"
	}
	e := Event{Kind: EventBulkheadRejected, Gate: b.name, Attempt: attempt, Reason: err.Reason}
	if !r.silent() {
		e.Running, e.Queued = b.Running(), b.Queued()
	}
	return r.reject(err, e)
}

func (r *run) rejectAbandoned(attempt int) result {
	err := &Error{Kind: KindBulkheadFull, Reason: "too many abandoned attempts are running"}
	return r.reject(err, Event{
		Kind: EventBulkheadRejected, Attempt: attempt, Reason: err.Reason, Running: r.plan.abandoned.count(),
	})
}

func (r *run) rejectLimited(l *RateLimiter, attempt int, retryAfter time.Duration) result {
	err := &Error{Kind: KindRateLimited, RetryAfter: retryAfter}
	return r.reject(err, Event{Kind: EventRateLimited, Gate: l.name, Attempt: attempt, RetryAfter: retryAfter})
}

func (r *run) reject(err *Error, e Event) result {
	err.Policy, err.Source, err.Cause = r.policy.name, r.policy.source, r.last
	e.Err = err
	r.publish(e)
	return result{err: err, class: classRejection}
}
