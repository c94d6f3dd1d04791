package policy

import "time"

// The rejections of a call. A gate that rejects has let nothing through and holds nothing. The
// failure of the attempt before, if there was one, becomes the rejection's cause.

func (c *Call) rejectOpen(retryAfter time.Duration) {
	err := c.reject(KindCircuitOpen, retryAfter, "")
	if !c.silent() {
		c.publish(Event{
			Kind: EventCircuitRejected, Gate: c.plan.breaker.name, Attempt: c.number, RetryAfter: retryAfter, Err: err,
		})
	}
}

func (c *Call) rejectFull(why admission) {
	reason := ""
	if why == refusedQueue {
		reason = "queue timeout"
	}
	err := c.reject(KindBulkheadFull, 0, reason)
	if b := c.plan.bulkhead; !c.silent() {
		c.publish(Event{
			Kind: EventBulkheadRejected, Gate: b.name, Attempt: c.number, Reason: reason,
			Running: b.Running(), Queued: b.Queued(), Err: err,
		})
	}
}

func (c *Call) rejectAbandoned() {
	err := c.reject(KindBulkheadFull, 0, "too many abandoned attempts are running")
	if !c.silent() {
		c.publish(Event{
			Kind: EventBulkheadRejected, Attempt: c.number, Reason: err.Reason,
			Running: c.plan.abandoned.count(), Err: err,
		})
	}
}

func (c *Call) rejectLimited(retryAfter time.Duration) {
	err := c.reject(KindRateLimited, retryAfter, "")
	if !c.silent() {
		c.publish(Event{
			Kind: EventRateLimited, Gate: c.plan.limiter.name, Attempt: c.number, RetryAfter: retryAfter, Err: err,
		})
	}
}

func (c *Call) reject(kind ErrorKind, retryAfter time.Duration, reason string) *Error {
	err := &Error{
		Kind: kind, Policy: c.policy.name, Source: c.policy.source, RetryAfter: retryAfter, Reason: reason, Cause: c.failure(),
	}
	c.err, c.class, c.own = err, classRejection, false
	return err
}
