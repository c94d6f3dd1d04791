package policy

import "time"

// holding is what an attempt holds of the gates that it has passed.
type holding struct {
	attempt   *Attempt // nil: it is not made yet
	abandoned bool     // attempt is
	marks     uint32   // of the gates
	permit    permit   // of the breaker
	permitted bool     // permit is one
	verdict   outcome  // for the breaker
	token     reservation
}

// admit passes the gates of an attempt, in order. What is passed is held, also if a later gate
// does not let it through.
func (r *run) admit(h *holding, number int) (rejection result, admitted bool) {
	if r.over() {
		return r.interrupted(number), false
	}
	breaker := r.plan.breaker
	if breaker != nil && r.outer.holdsBreaker(breaker) {
		breaker = nil
	}
	if rejection, rejected := r.rejectEarly(breaker, number); rejected {
		return rejection, false
	}
	if rejection, rejected := r.takeTurn(h, breaker, number); rejected {
		return rejection, false
	}
	if rejection, rejected := r.takeSlot(h, number); rejected {
		return rejection, false
	}
	if rejection, rejected := r.takeToken(h, number); rejected {
		return rejection, false
	}
	if r.tooManyAbandoned() { // by now: others may have been abandoned during the waits
		return r.rejectAbandoned(number), false
	}
	if breaker != nil {
		permit, retryAfter, ok, changes := breaker.permit()
		h.permit, h.permitted = permit, ok
		r.publishChanges(breaker, changes)
		if !ok {
			return r.rejectOpen(breaker, number, retryAfter), false
		}
		h.marks |= holdsBreaker
	}
	return result{}, true
}

// rejectEarly rejects an attempt that could only wait in vain.
func (r *run) rejectEarly(breaker *CircuitBreaker, number int) (rejection result, rejected bool) {
	if breaker != nil {
		retryAfter, ok, changes := breaker.passable()
		r.publishChanges(breaker, changes)
		if !ok {
			return r.rejectOpen(breaker, number, retryAfter), true
		}
	}
	if r.tooManyAbandoned() {
		return r.rejectAbandoned(number), true
	}
	return result{}, false
}

// takeTurn waits until the operation's budget lets another attempt run.
func (r *run) takeTurn(h *holding, breaker *CircuitBreaker, number int) (rejection result, rejected bool) {
	if !r.call.Budget.bounds() || r.plan.bare() || r.outer.holdsTurn(r.call.Budget) {
		return result{}, false
	}
	if r.enter(r.call.Budget.turns) != admitted {
		return r.interrupted(number), true
	}
	h.marks |= holdsTurn
	return r.rejectEarly(breaker, number) // by now
}

func (r *run) takeSlot(h *holding, number int) (rejection result, rejected bool) {
	bulkhead := r.plan.bulkhead
	if bulkhead == nil || r.outer.holdsSlot(bulkhead) {
		return result{}, false
	}
	switch admission := r.enter(bulkhead); admission {
	case admitted:
		h.marks |= holdsSlot
		return result{}, false
	case gaveUp:
		return r.interrupted(number), true
	default:
		return r.rejectFull(bulkhead, number, admission), true
	}
}

// enter takes a slot of the bulkhead, waiting in its queue if need be.
func (r *run) enter(b *Bulkhead) admission {
	admission, place := b.enter()
	if admission == queued {
		admission = b.await(r.toWait(), place)
	}
	return admission
}

func (r *run) takeToken(h *holding, number int) (rejection result, rejected bool) {
	limiter := r.plan.limiter
	if limiter == nil || r.outer.holdsToken(limiter) {
		return result{}, false
	}
	token, ok := limiter.reserveAt(time.Now(), r.longestWait(limiter.settings.maxWait))
	if !ok {
		return r.rejectLimited(limiter, number, token.wait), true
	}
	h.token = token
	h.marks |= holdsToken
	if token.wait > 0 && !sleep(r.toWait(), token.wait) {
		return r.interrupted(number), true
	}
	return result{}, false
}

// longestWait is limit, or what is left of the time until the run is over if that is less.
func (r *run) longestWait(limit time.Duration) time.Duration {
	if limit > 0 && r.end != 0 {
		limit = min(limit, r.end.since(now()))
	}
	if deadline, ok := r.caller.Deadline(); ok && limit > 0 {
		limit = min(limit, time.Until(deadline))
	}
	return max(0, limit)
}

// release gives back what the attempt holds. The breaker hears of it before a waiter gets the slot,
// and its subscribers when nothing is held any more.
func (r *run) release(h *holding) {
	var changes []transition
	if h.permitted {
		changes = r.plan.breaker.record(h.permit, h.verdict)
	}
	h.giveBack(r.plan)
	if h.marks&holdsTurn != 0 {
		r.call.Budget.turns.release()
	}
	r.publishChanges(r.plan.breaker, changes)
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
