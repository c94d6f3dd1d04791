package policy

import "time"

// holding is what an attempt holds of the gates that it has passed.
type holding struct {
	attempt   *Attempt // nil: it is not made yet
	passed    gateSet
	permitted bool    // permit is one
	verdict   outcome // for the breaker
	permit    permit
}

// admit passes the gates of an attempt, in order, and makes it. If a gate does not let it pass, it
// gives back what was granted before, and the call has come to a rejection.
func (c *Call) admit() bool {
	c.number++
	breaker := c.plan.breaker
	if breaker != nil && c.outer.holdsBreaker(breaker) {
		breaker = nil
	}
	if !c.mayTry(breaker) || !c.takeTurn(breaker) || !c.takeSlot() || !c.takeTokenAndPermit(breaker) {
		c.release()
		return false
	}
	c.makeAttempt()
	return true
}

// mayTry rejects an attempt that could only wait in vain.
func (c *Call) mayTry(breaker *CircuitBreaker) bool {
	if c.over() {
		c.interrupt()
		return false
	}
	if breaker != nil {
		if _, closed := breaker.isClosed(); !closed && !c.mayProbe(breaker) {
			return false
		}
	}
	return !c.tooManyAbandoned()
}

// mayProbe rejects the attempt if the breaker, which is not closed, lets none pass.
func (c *Call) mayProbe(breaker *CircuitBreaker) bool {
	retryAfter, ok, changes := breaker.passable()
	if changes != nil {
		c.publishChanges(changes)
	}
	if !ok {
		c.rejectOpen(retryAfter)
	}
	return ok
}

// tooManyAbandoned rejects the attempt if abandoned ones keep further ones from being made.
func (c *Call) tooManyAbandoned() bool {
	if c.plan.enforced && c.plan.abandoned.count() >= c.plan.maxAbandoned {
		c.rejectAbandoned()
		return true
	}
	return false
}

// takeTurn waits until the operation's budget lets another attempt run.
func (c *Call) takeTurn(breaker *CircuitBreaker) bool {
	if !c.Budget.bounds() || c.plan.bare() || c.outer.holdsTurn(c.Budget) {
		return true
	}
	if c.enter(c.Budget.turns) != admitted {
		c.interrupt()
		return false
	}
	c.held.passed |= passedTurns
	return c.mayTry(breaker) // by now
}

func (c *Call) takeSlot() bool {
	bulkhead := c.plan.bulkhead
	if bulkhead == nil || c.outer.holdsSlot(bulkhead) {
		return true
	}
	switch admission := c.enter(bulkhead); admission {
	case admitted:
		c.held.passed |= passedBulkhead
		return true
	case gaveUp:
		c.interrupt()
	default:
		c.rejectFull(admission)
	}
	return false
}

// enter takes a slot of the bulkhead, waiting in its queue if need be.
func (c *Call) enter(b *Bulkhead) admission {
	admission, place := b.enter()
	if admission == queued {
		admission = b.await(c.toWait(), place)
	}
	return admission
}

func (c *Call) takeTokenAndPermit(breaker *CircuitBreaker) bool {
	if limiter := c.plan.limiter; limiter != nil && !c.outer.holdsToken(limiter) {
		return c.takeToken(limiter, breaker)
	}
	return c.takePermit(breaker)
}

// takeToken takes a token, and gives it back if the breaker grants no permit.
func (c *Call) takeToken(limiter *RateLimiter, breaker *CircuitBreaker) bool {
	token, ok := limiter.reserveAt(time.Now(), c.longestWait(limiter.settings.maxWait))
	if !ok {
		c.rejectLimited(token.wait)
		return false
	}
	if token.wait > 0 && !sleep(c.toWait(), token.wait) {
		limiter.refundAt(time.Now(), token)
		c.interrupt()
		return false
	}
	if !c.takePermit(breaker) {
		limiter.refundAt(time.Now(), token)
		return false
	}
	c.held.passed |= passedLimiter
	return true
}

// takePermit takes the breaker's permit, after the waits.
func (c *Call) takePermit(breaker *CircuitBreaker) bool {
	if c.tooManyAbandoned() { // by now: others may have been abandoned during the waits
		return false
	}
	if breaker == nil {
		return true
	}
	c.held.verdict = failure // which a panic leaves in place
	if c.held.permit, c.held.permitted = breaker.isClosed(); !c.held.permitted && !c.takeProbe(breaker) {
		return false
	}
	c.held.passed |= passedBreaker
	return true
}

// takeProbe takes the permit of a breaker that is not closed.
func (c *Call) takeProbe(breaker *CircuitBreaker) bool {
	permit, retryAfter, ok, changes := breaker.permitAt(time.Now())
	c.held.permit, c.held.permitted = permit, ok
	if changes != nil {
		c.publishChanges(changes)
	}
	if !ok {
		c.rejectOpen(retryAfter)
	}
	return ok
}

// longestWait is limit, or what is left of the time until the call is over if that is less.
func (c *Call) longestWait(limit time.Duration) time.Duration {
	if limit > 0 && c.end != 0 {
		limit = min(limit, c.end.since(now()))
	}
	if deadline, ok := c.caller.Deadline(); ok && limit > 0 {
		limit = min(limit, time.Until(deadline))
	}
	return max(0, limit)
}

// release gives back what the attempt still holds. The breaker hears of it before a waiter gets the
// slot, and its subscribers when nothing is held any more.
func (c *Call) release() {
	var changes []transition
	if c.held.permitted {
		changes = c.plan.breaker.record(c.held.permit, c.held.verdict)
	}
	a := c.held.attempt
	switch {
	case a != nil:
		a.end(c.abandoned)
	case c.held.passed&passedBulkhead != 0:
		c.plan.bulkhead.release()
	}
	if c.held.passed&passedTurns != 0 {
		c.Budget.turns.release()
	}
	c.held = holding{}
	if changes != nil {
		c.publishChanges(changes)
	}
	if a != nil && a.began != 0 {
		c.publishAttempt(a)
	}
}
