package policy

import "time"

// holding is what an attempt holds of the gates that it has passed.
type holding struct {
	attempt   *Attempt // nil: it is not made yet
	marks     uint32   // of the gates
	abandoned bool     // attempt is
	permitted bool     // permit is one
	verdict   outcome  // for the breaker
	permit    permit   // of the breaker
	token     reservation
}

// admit passes the gates of an attempt, in order. What is passed is held, also if a later gate
// does not let it through.
func (c *Call) admit(h *holding, number int) (rejection result, admitted bool) {
	if c.over() {
		return c.interrupted(number), false
	}
	breaker := c.plan.breaker
	if breaker != nil && c.outer.holdsBreaker(breaker) {
		breaker = nil
	}
	if rejection, rejected := c.rejectEarly(breaker, number); rejected {
		return rejection, false
	}
	if rejection, rejected := c.takeTurn(h, breaker, number); rejected {
		return rejection, false
	}
	if rejection, rejected := c.takeSlot(h, number); rejected {
		return rejection, false
	}
	if rejection, rejected := c.takeToken(h, number); rejected {
		return rejection, false
	}
	if c.tooManyAbandoned() { // by now: others may have been abandoned during the waits
		return c.rejectAbandoned(number), false
	}
	if breaker != nil {
		permit, retryAfter, ok, changes := breaker.permit()
		h.permit, h.permitted = permit, ok
		c.publishChanges(breaker, changes)
		if !ok {
			return c.rejectOpen(breaker, number, retryAfter), false
		}
		h.marks |= holdsBreaker
	}
	return result{}, true
}

// rejectEarly rejects an attempt that could only wait in vain.
func (c *Call) rejectEarly(breaker *CircuitBreaker, number int) (rejection result, rejected bool) {
	if breaker != nil {
		retryAfter, ok, changes := breaker.passable()
		c.publishChanges(breaker, changes)
		if !ok {
			return c.rejectOpen(breaker, number, retryAfter), true
		}
	}
	if c.tooManyAbandoned() {
		return c.rejectAbandoned(number), true
	}
	return result{}, false
}

// takeTurn waits until the operation's budget lets another attempt run.
func (c *Call) takeTurn(h *holding, breaker *CircuitBreaker, number int) (rejection result, rejected bool) {
	if !c.Budget.bounds() || c.plan.bare() || c.outer.holdsTurn(c.Budget) {
		return result{}, false
	}
	if c.enter(c.Budget.turns) != admitted {
		return c.interrupted(number), true
	}
	h.marks |= holdsTurn
	return c.rejectEarly(breaker, number) // by now
}

func (c *Call) takeSlot(h *holding, number int) (rejection result, rejected bool) {
	bulkhead := c.plan.bulkhead
	if bulkhead == nil || c.outer.holdsSlot(bulkhead) {
		return result{}, false
	}
	switch admission := c.enter(bulkhead); admission {
	case admitted:
		h.marks |= holdsSlot
		return result{}, false
	case gaveUp:
		return c.interrupted(number), true
	default:
		return c.rejectFull(bulkhead, number, admission), true
	}
}

// enter takes a slot of the bulkhead, waiting in its queue if need be.
func (c *Call) enter(b *Bulkhead) admission {
	admission, place := b.enter()
	if admission == queued {
		admission = b.await(c.toWait(), place)
	}
	return admission
}

func (c *Call) takeToken(h *holding, number int) (rejection result, rejected bool) {
	limiter := c.plan.limiter
	if limiter == nil || c.outer.holdsToken(limiter) {
		return result{}, false
	}
	token, ok := limiter.reserveAt(time.Now(), c.longestWait(limiter.settings.maxWait))
	if !ok {
		return c.rejectLimited(limiter, number, token.wait), true
	}
	h.token = token
	h.marks |= holdsToken
	if token.wait > 0 && !sleep(c.toWait(), token.wait) {
		return c.interrupted(number), true
	}
	return result{}, false
}

// longestWait is limit, or what is left of the time until the run is over if that is less.
func (c *Call) longestWait(limit time.Duration) time.Duration {
	if limit > 0 && c.end != 0 {
		limit = min(limit, c.end.since(now()))
	}
	if deadline, ok := c.caller.Deadline(); ok && limit > 0 {
		limit = min(limit, time.Until(deadline))
	}
	return max(0, limit)
}

// release gives back what the attempt holds. The breaker hears of it before a waiter gets the slot,
// and its subscribers when nothing is held any more.
func (c *Call) release(h *holding) {
	var changes []transition
	if h.permitted {
		changes = c.plan.breaker.record(h.permit, h.verdict)
	}
	h.giveBack(c.plan)
	if h.marks&holdsTurn != 0 {
		c.Budget.turns.release()
	}
	c.publishChanges(c.plan.breaker, changes)
}

// giveBack gives the slot back and, if there was no attempt, the token.
func (h *holding) giveBack(p *plan) {
	if a := h.attempt; a != nil {
		a.marks.And(^held)
		a.end()
		if !h.abandoned || p.bulkhead == nil || !p.bulkhead.settings.holdAbandoned {
			a.releaseSlot()
		}
		return
	}
	if h.marks&holdsSlot != 0 {
		p.bulkhead.release()
	}
	if h.marks&holdsToken != 0 {
		p.limiter.refundAt(time.Now(), h.token)
	}
}
