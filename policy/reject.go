package policy

import "time"

// The rejections of a run. A gate that rejects has let nothing through and holds nothing. The
// failure of the attempt before, if there was one, becomes the rejection's cause.

func (c *Call) rejectOpen(b *CircuitBreaker, attempt int, retryAfter time.Duration) result {
	err := c.rejection(KindCircuitOpen, retryAfter, "")
	if !c.silent() {
		c.publish(Event{Kind: EventCircuitRejected, Gate: b.name, Attempt: attempt, RetryAfter: retryAfter, Err: err})
	}
	return rejected(err)
}

func (c *Call) rejectFull(b *Bulkhead, attempt int, why admission) result {
	reason := ""
	if why == refusedQueue {
		reason = "queue timeout"
	}
	err := c.rejection(KindBulkheadFull, 0, reason)
	if !c.silent() {
		c.publish(Event{
			Kind: EventBulkheadRejected, Gate: b.name, Attempt: attempt, Reason: reason,
			Running: b.Running(), Queued: b.Queued(), Err: err,
		})
	}
	return rejected(err)
}

func (c *Call) rejectAbandoned(attempt int) result {
	err := c.rejection(KindBulkheadFull, 0, "too many abandoned attempts are running")
	if !c.silent() {
		c.publish(Event{
			Kind: EventBulkheadRejected, Attempt: attempt, Reason: err.Reason,
			Running: c.plan.abandoned.count(), Err: err,
		})
	}
	return rejected(err)
}

func (c *Call) rejectLimited(l *RateLimiter, attempt int, retryAfter time.Duration) result {
	err := c.rejection(KindRateLimited, retryAfter, "")
	if !c.silent() {
		c.publish(Event{Kind: EventRateLimited, Gate: l.name, Attempt: attempt, RetryAfter: retryAfter, Err: err})
	}
	return rejected(err)
}

func (c *Call) rejection(kind ErrorKind, retryAfter time.Duration, reason string) *Error {
	return &Error{Kind: kind, Policy: c.policy.name, Source: c.policy.source, RetryAfter: retryAfter, Reason: reason, Cause: c.last}
}

func rejected(err *Error) result { return result{err: err, class: classRejection} }
