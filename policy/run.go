package policy

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// run is one call under a policy. Its methods are the stages, outermost first:
// withFallback, withinTotal, withRetries, attempt, do.
type run struct {
	policy *Policy
	plan   *plan
	call   Call
	caller context.Context
	outer  *attemptContext // the attempt that the call is made in, if any
	last   error           // of the attempt before, if any
}

// result is how an attempt, and in the end the run, came out.
type result struct {
	value     any
	err       error
	class     class
	raised    bool // err is a panic to be raised again
	abandoned bool
}

// withFallback is the fallback stage.
func (r *run) withFallback() (any, error) {
	res := r.withinTotal()
	if res.class == classSuccess {
		return res.value, nil
	}
	err := unmarked(res.err)
	if f := r.plan.fallback; f != nil && !r.ended(res) && f.answers(res, err) {
		if value, fallbackErr := f.fn(r.caller, err); !errors.Is(fallbackErr, ErrNoFallback) {
			return r.answered(value, fallbackErr, err)
		}
	}
	if res.raised {
		panic(err)
	}
	return res.value, err
}

// answered is the end of a run whose fallback was asked about err.
func (r *run) answered(value any, fallbackErr, err error) (any, error) {
	if fallbackErr != nil {
		r.publish(Event{Kind: EventFallback, Reason: "failed", Err: err})
		if !same(fallbackErr, err) {
			fallbackErr = &FallbackError{Err: fallbackErr, Cause: err}
		}
		return value, fallbackErr
	}
	r.publish(Event{Kind: EventFallback, Err: err})
	if r.call.Answered != nil {
		r.call.Answered(err)
	}
	return value, nil
}

// ended reports whether an abandoned attempt ends the run.
func (r *run) ended(res result) bool { return res.abandoned && r.call.AbandonEnds }

// withinTotal is the total timeout, and the deadline of the operation.
func (r *run) withinTotal() result {
	ctx, cancel := r.call.Budget.until(r.caller)
	defer cancel()
	if r.plan.total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.plan.total, r.policy.totalTimeUp)
		defer cancel()
	}
	return r.withRetries(ctx)
}

// withRetries is the retry stage.
func (r *run) withRetries(ctx context.Context) result {
	for attempt := 1; ; attempt++ {
		res := r.attempt(ctx, attempt)
		if !r.retries(res, attempt) {
			return res
		}
		delay, worthwhile := r.plan.retry.delay(ctx, res.err, attempt)
		if !worthwhile {
			return res
		}
		if !r.call.Budget.takeRetry() {
			return res
		}
		r.publish(Event{Kind: EventRetry, Attempt: attempt, Delay: delay, Err: res.err})
		r.last = unmarked(res.err)
		if !sleep(ctx, delay) {
			return r.interrupted(ctx, attempt)
		}
	}
}

func (r *run) retries(res result, attempt int) bool {
	retry := r.plan.retry
	switch {
	case retry == nil, r.call.NoRetry, r.ended(res):
		return false
	case retry.attempts != Unlimited && attempt >= retry.attempts:
		return false
	case retry.retryIf != nil && res.class.ofFunction():
		return retry.retryIf(res.err, attempt)
	default:
		return res.class.retried()
	}
}

// attempt passes the gates, in order, and makes the call.
func (r *run) attempt(ctx context.Context, number int) (res result) {
	if ctx.Err() != nil {
		return r.interrupted(ctx, number)
	}

	breaker := r.plan.breaker
	if breaker != nil && r.outer.holdsBreaker(breaker) {
		breaker = nil
	}
	if rejection, rejected := r.rejectEarly(breaker, number); rejected {
		return rejection
	}

	a := &attemptContext{number: number, outer: r.outer, budget: r.call.Budget}
	if budget := r.call.Budget; budget.bounds() && !r.plan.bare() && !r.outer.hasTurn(budget) {
		if budget.turns.acquire(ctx) == gaveUp {
			return r.interrupted(ctx, number)
		}
		defer budget.turns.release()
		a.turn = true
		if rejection, rejected := r.rejectEarly(breaker, number); rejected { // by now
			return rejection
		}
	}

	bulkhead := r.plan.bulkhead
	if bulkhead != nil && !r.outer.holdsSlot(bulkhead) {
		switch admission := bulkhead.acquire(ctx); admission {
		case gaveUp:
			return r.interrupted(ctx, number)
		case refusedFull, refusedQueue:
			return r.rejectFull(bulkhead, number, admission)
		}
		a.bulkhead = bulkhead
		a.slot.Store(true)
		defer func() {
			if !a.abandoned || !bulkhead.settings.holdAbandoned {
				a.releaseSlot()
			}
		}()
	}

	limiter := r.plan.limiter
	if limiter != nil && !r.outer.holdsToken(limiter) {
		token, ok := limiter.reserveAt(time.Now(), longestWait(ctx, limiter.settings.maxWait))
		if !ok {
			return r.rejectLimited(limiter, number, token.wait)
		}
		if !sleep(ctx, token.wait) {
			limiter.refundAt(time.Now(), token)
			return r.interrupted(ctx, number)
		}
		a.limiter, a.token = limiter, token
	}

	if r.tooManyAbandoned() { // by now: others may have been abandoned during the waits
		a.refund()
		return r.rejectAbandoned(number)
	}

	verdict := failure // which a panic or Goexit leaves in place
	if breaker != nil {
		permit, retryAfter, ok, changes := breaker.permitAt(time.Now())
		if ok {
			a.breaker = breaker
			defer func() { r.publishChanges(breaker, breaker.recordAt(time.Now(), permit, verdict)) }()
		}
		r.publishChanges(breaker, changes)
		if !ok {
			a.refund()
			return r.rejectOpen(breaker, number, retryAfter)
		}
	}

	defer a.over.Store(true)
	res = r.do(ctx, a)
	if breaker != nil {
		verdict = breaker.verdict(res)
	}
	return res
}

// rejectEarly rejects an attempt that could only wait in vain.
func (r *run) rejectEarly(breaker *CircuitBreaker, number int) (rejection result, rejected bool) {
	if breaker != nil {
		retryAfter, ok, changes := breaker.passableAt(time.Now())
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

// do calls the function, for as long as the attempt may take.
func (r *run) do(ctx context.Context, a *attemptContext) (res result) {
	a.Context = ctx
	if r.plan.timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, r.plan.timeout, r.policy.attemptTimeUp)
		defer cancel()
		a.Context = limited
	}
	if !r.plan.enforced {
		res.value, res.err = r.call.Func(a)
		return r.judge(a, res)
	}
	f := launch(a, r.call.Func, func() (afterward func()) { return r.abandon(a) })
	if f == nil {
		res.abandoned = true
		res.err = ended(a)
	} else {
		res.value, res.err, res.raised = f.value, f.err, f.raised
	}
	return r.judge(a, res)
}

// judge decides what the outcome of an attempt was. Once the attempt's time was up it is a
// timeout, whatever the function returned after that.
func (r *run) judge(a *attemptContext, res result) result {
	if res.err != nil {
		awaitTimer(a)
	}
	timeUp, limit := r.timeUp(a)
	switch {
	case timeUp != nil && res.abandoned:
		res = r.timedOut(a.number, timeUp, limit, nil)
		res.abandoned = true
	case timeUp != nil:
		res = r.timedOut(a.number, timeUp, limit, res.err)
	case res.err == nil:
		return res
	default:
		res.class = classify(res.err, r.policy.registry.isClassified)
	}
	if res.abandoned {
		r.publish(Event{Kind: EventAbandoned, Attempt: a.number, Timeout: limit, Running: r.plan.abandoned.count()})
	}
	if r.caller.Err() != nil {
		res.class = classCallerDone
	}
	return res
}

// timeUp returns the timeout of this run that has ended ctx, and how long it was, or nil.
func (r *run) timeUp(ctx context.Context) (timeUp *Error, limit time.Duration) {
	switch context.Cause(ctx) {
	case error(r.policy.attemptTimeUp):
		timeUp, limit = r.policy.attemptTimeUp, r.plan.timeout
	case error(r.policy.totalTimeUp):
		timeUp, limit = r.policy.totalTimeUp, r.plan.total
	default:
		if r.call.Budget.ended(ctx) {
			timeUp = r.call.Budget.timeUp
		}
	}
	if timeUp != nil && context.Cause(r.caller) == error(timeUp) {
		return nil, 0 // that of a call under the same policy around this one
	}
	return timeUp, limit
}

// timedOut is the result of a timeout, after the failure cause, if any.
func (r *run) timedOut(attempt int, timeUp *Error, limit time.Duration, cause error) result {
	timeout := *timeUp
	timeout.Policy, timeout.Source, timeout.Cause = r.policy.name, r.policy.source, unmarked(cause)
	r.publish(Event{Kind: EventTimeout, Attempt: attempt, Timeout: limit, Reason: timeout.Reason, Err: &timeout})
	if r.call.Budget != nil && timeUp == r.call.Budget.timeUp {
		return result{err: &timeout, class: classOutOfTime}
	}
	return result{err: &timeout, class: classTimeout}
}

// tooManyAbandoned reports whether abandoned attempts keep further ones from being made.
func (r *run) tooManyAbandoned() bool {
	return r.plan.enforced && r.plan.abandoned.count() >= r.plan.maxAbandoned
}

// abandon counts the attempt until it ends, and returns what is to be done then.
func (r *run) abandon(a *attemptContext) (afterward func()) {
	a.abandoned = true
	ofPolicy, ofRegistry := r.plan.abandoned, &r.policy.registry.abandoned
	ofPolicy.add()
	ofRegistry.add()
	return func() {
		a.releaseSlot()
		ofPolicy.done()
		ofRegistry.done()
	}
}

// interrupted is the result where ctx ended while no attempt was running.
func (r *run) interrupted(ctx context.Context, attempt int) result {
	if timeUp, limit := r.timeUp(ctx); timeUp != nil && r.caller.Err() == nil {
		return r.timedOut(attempt, timeUp, limit, r.last)
	}
	err := ended(ctx)
	if r.last != nil {
		err = fmt.Errorf("%w before the next attempt: %w", err, r.last)
	}
	return result{err: err, class: classCallerDone}
}
