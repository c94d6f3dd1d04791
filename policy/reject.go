package policy

import "time"

// The rejections of a run. A gate that rejects has let nothing through and holds nothing. The
// failure of the attempt before, if there was one, becomes the rejection's cause.

func (r *run) rejectOpen(b *CircuitBreaker, attempt int, retryAfter time.Duration) result {
	err := r.rejection(KindCircuitOpen, retryAfter, "")
	if !r.silent() {
		r.publish(Event{Kind: EventCircuitRejected, Gate: b.name, Attempt: attempt, RetryAfter: retryAfter, Err: err})
	}
	return rejected(err)
}

func (r *run) rejectFull(b *Bulkhead, attempt int, why admission) result {
	reason := ""
	if why == refusedQueue {
		reason = "queue timeout"
	}
	err := r.rejection(KindBulkheadFull, 0, reason)
	if !r.silent() {
		r.publish(Event{
			Kind: EventBulkheadRejected, Gate: b.name, Attempt: attempt, Reason: reason,
			Running: b.Running(), Queued: b.Queued(), Err: err,
		})
	}
	return rejected(err)
}

func (r *run) rejectAbandoned(attempt int) result {
	err := r.rejection(KindBulkheadFull, 0, "too many abandoned attempts are running")
	if !r.silent() {
		r.publish(Event{
			Kind: EventBulkheadRejected, Attempt: attempt, Reason: err.Reason,
			Running: r.plan.abandoned.count(), Err: err,
		})
	}
	return rejected(err)
}

func (r *run) rejectLimited(l *RateLimiter, attempt int, retryAfter time.Duration) result {
	err := r.rejection(KindRateLimited, retryAfter, "")
	if !r.silent() {
		r.publish(Event{Kind: EventRateLimited, Gate: l.name, Attempt: attempt, RetryAfter: retryAfter, Err: err})
	}
	return rejected(err)
}

func (r *run) rejection(kind ErrorKind, retryAfter time.Duration, reason string) *Error {
	return &Error{Kind: kind, Policy: r.policy.name, Source: r.policy.source, RetryAfter: retryAfter, Reason: reason, Cause: r.last}
}

func rejected(err *Error) result { return result{err: err, class: classRejection} }
