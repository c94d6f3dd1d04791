package policy

import "time"

// holding is what an attempt holds of the gates that it has passed.
type holding struct {
	attempt   *Attempt // nil: it is not made yet
	marks     uint32   // of the gates
	permitted bool     // permit is one
	verdict   outcome  // for the breaker
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
	if !c.mayTry(breaker) || !c.takeTurn(breaker) || !c.takeSlot() {
		c.release()
		return false
	}
	token, ok := c.takeToken()
	if !ok || !c.takePermit(breaker) {
		c.refund(token)
		c.release()
		return false
	}
	c.makeAttempt()
	return true
}

// mayTry rejects an attempt that could only wait in vain.
func (c *Call) mayTry(breaker *CircuitBreaker) bool {
	if c.over() {
		c.own = false
		c.interrupt()
		return false
	}
	if breaker != nil {
		retryAfter, ok, changes := breaker.passable()
		c.publishChanges(changes)
		if !ok {
			c.rejectOpen(retryAfter)
			return false
		}
	}
	return !c.tooManyAbandoned()
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
		c.own = false
		c.interrupt()
		return false
	}
	c.held.marks |= holdsTurn
	return c.mayTry(breaker) // by now
}

func (c *Call) takeSlot() bool {
	bulkhead := c.plan.bulkhead
	if bulkhead == nil || c.outer.holdsSlot(bulkhead) {
		return true
	}
	switch admission := c.enter(bulkhead); admission {
	case admitted:
		c.held.marks |= holdsSlot
		return true
	case gaveUp:
		c.own = false
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

func (c *Call) takeToken() (token reservation, ok bool) {
	limiter := c.plan.limiter
	if limiter == nil || c.outer.holdsToken(limiter) {
		return token, true
	}
	token, ok = limiter.reserveAt(time.Now(), c.longestWait(limiter.settings.maxWait))
	if !ok {
		c.rejectLimited(token.wait)
		return reservation{}, false
	}
	c.held.marks |= holdsToken
	if token.wait > 0 && !sleep(c.toWait(), token.wait) {
		c.own = false
		c.interrupt()
		return token, false
	}
	return token, true
}

// refund takes the token back, if there is one, of an attempt that is not made.
func (c *Call) refund(token reservation) {
	if c.held.marks&holdsToken != 0 {
		c.plan.limiter.refundAt(time.Now(), token)
	}
}

// takePermit takes the breaker's permit, after the waits.
func (c *Call) takePermit(breaker *CircuitBreaker) bool {
	if c.tooManyAbandoned() { // by now: others may have been abandoned during the waits
		return false
	}
	if breaker == nil {
		return true
	}
	permit, retryAfter, ok, changes := breaker.permit()
	c.held.permit, c.held.permitted, c.held.verdict = permit, ok, failure // which a panic leaves in place
	c.publishChanges(changes)
	if !ok {
		c.rejectOpen(retryAfter)
		return false
	}
	c.held.marks |= holdsBreaker
	return true
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
	switch a := c.held.attempt; {
	case a != nil:
		a.end(c.abandoned)
	case c.held.marks&holdsSlot != 0:
		c.plan.bulkhead.release()
	}
	if c.held.marks&holdsTurn != 0 {
		c.Budget.turns.release()
	}
	c.held = holding{}
	if changes != nil {
		c.publishChanges(changes)
	}
}
