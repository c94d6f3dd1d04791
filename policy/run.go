package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// run is one call under a policy. Its methods are the stages, outermost first:
// withFallback, withinTotal, withRetries, attempt, try.
//
// It lives on its caller's stack, so nothing that outlives the call may point to it.
type run struct {
	policy *Policy
	plan   *plan
	call   Call
	caller context.Context
	outer  *Attempt // that the call is made in, if any
	last   error    // of the attempt before, if any

	// The time limit of all attempts together, of the total timeout or of the operation.
	end     instant            // 0: none
	endedBy *Error             // at end
	waiting context.Context    // caller's with that limit; made when the run waits
	stop    context.CancelFunc // of waiting
}

// result is how an attempt, and in the end the run, came out.
type result struct {
	err       error
	class     class
	own       bool // err, or that there is none, is what the attempt came to by itself
	raised    bool // err is a panic to be raised again
	abandoned bool
}

// withFallback is the fallback stage.
func (r *run) withFallback() (any, error) {
	res := r.withinTotal()
	if res.class == classSuccess {
		r.call.Own = true
		return nil, nil
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
	r.call.Own = res.own
	return nil, err
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
	r.call.Answered = err
	return value, nil
}

// ended reports whether an abandoned attempt ends the run.
func (r *run) ended(res result) bool { return res.abandoned && r.call.AbandonEnds }

// withinTotal is the total timeout, and the deadline of the operation.
func (r *run) withinTotal() result {
	if r.call.Budget != nil && r.call.Budget.deadline != 0 {
		r.end, r.endedBy = r.call.Budget.deadline, r.call.Budget.timeUp
	}
	if r.plan.total > 0 {
		if end := now().add(r.plan.total); r.end == 0 || end < r.end {
			r.end, r.endedBy = end, r.policy.totalTimeUp
		}
	}
	defer r.stopWaiting()
	return r.withRetries()
}

// withRetries is the retry stage.
func (r *run) withRetries() result {
	for number := 1; ; number++ {
		res := r.attempt(number)
		if res.class == classSuccess || !r.retries(res, number) {
			return res
		}
		ctx := r.toWait()
		delay, worthwhile := r.plan.retry.delay(ctx, res.err, number)
		if !worthwhile {
			return res
		}
		if !r.call.Budget.takeRetry() {
			return res
		}
		r.publish(Event{Kind: EventRetry, Attempt: number, Delay: delay, Err: res.err})
		r.last = unmarked(res.err)
		if !sleep(ctx, delay) {
			return r.interrupted(number)
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
func (r *run) attempt(number int) (res result) {
	h := holding{verdict: failure} // which a panic or Goexit leaves in place
	defer r.release(&h)
	if res, admitted := r.admit(&h, number); !admitted {
		return res
	}
	return r.try(&h, number)
}

// try makes the call, for as long as the attempt may take.
func (r *run) try(h *holding, number int) result {
	attempter := r.call.Maker.MakeAttempt(r.caller, r.call.State, r.call.Function, r.call.Last)
	a := attempter.attempt()
	a.caller, a.plan, a.outer, a.budget = r.caller, r.plan, r.outer, r.call.Budget
	a.number = int32(min(number, math.MaxInt32))
	a.deadline, a.timeUp = r.end, r.endedBy
	if r.plan.timeout > 0 {
		if deadline := now().add(r.plan.timeout); a.deadline == 0 || deadline < a.deadline {
			a.deadline, a.timeUp = deadline, r.policy.attemptTimeUp
		}
	}
	a.marks.Store(h.marks)
	h.attempt, r.call.Last = a, attempter

	res := result{own: true}
	if r.plan.enforced {
		res = r.launch(attempter, a)
		h.abandoned = res.abandoned
	} else {
		res.err = attempter.Try()
	}
	if res = r.judge(a, res); h.permitted {
		h.verdict = r.plan.breaker.verdict(res)
	}
	return res
}

// judge decides what the outcome of an attempt was. Once the attempt's time was up it is a
// timeout, whatever the function returned after that.
func (r *run) judge(a *Attempt, res result) result {
	switch {
	case a.outOfTime():
		res = r.timedOut(int(a.number), a.timeUp, res)
	case res.abandoned:
		res.err = ended(a)
	case res.err == nil:
		return res
	default:
		awaitTimer(r.caller)
		res.class = classify(res.err, r.policy.registry.isClassified)
	}
	if res.abandoned {
		r.publish(Event{Kind: EventAbandoned, Attempt: int(a.number), Timeout: r.limit(a.timeUp), Running: r.plan.abandoned.count()})
	}
	if r.caller.Err() != nil {
		res.class = classCallerDone
	}
	return res
}

// timedOut is the result of a timeout, of an attempt that has come to res.
func (r *run) timedOut(number int, timeUp *Error, res result) result {
	timeout := *timeUp
	timeout.Policy, timeout.Source, timeout.Cause = r.policy.name, r.policy.source, unmarked(res.err)
	r.publish(Event{Kind: EventTimeout, Attempt: number, Timeout: r.limit(timeUp), Reason: timeout.Reason, Err: &timeout})
	class := classTimeout
	if r.call.Budget != nil && timeUp == r.call.Budget.timeUp {
		class = classOutOfTime
	}
	return result{err: &timeout, class: class, abandoned: res.abandoned}
}

// limit is how long the time was that is up. The operation's is not told.
func (r *run) limit(timeUp *Error) time.Duration {
	switch timeUp {
	case r.policy.attemptTimeUp:
		return r.plan.timeout
	case r.policy.totalTimeUp:
		return r.plan.total
	default:
		return 0
	}
}

// toWait returns the caller's context with the time limit of all attempts together.
func (r *run) toWait() context.Context {
	if r.end == 0 {
		return r.caller
	}
	if r.waiting == nil {
		left := r.end.since(now())
		r.waiting, r.stop = context.WithDeadlineCause(r.caller, time.Now().Add(left), r.endedBy)
	}
	return r.waiting
}

func (r *run) stopWaiting() {
	if r.stop != nil {
		r.stop()
	}
}

// over reports whether no further attempt can be made, for the caller has gone or time is up.
func (r *run) over() bool { return r.end != 0 && now() >= r.end || r.caller.Err() != nil }

// interrupted is the result where the run was over while no attempt was running.
func (r *run) interrupted(number int) result {
	if r.caller.Err() == nil {
		return r.timedOut(number, r.endedBy, result{err: r.last})
	}
	err := ended(r.caller)
	if r.last != nil {
		err = fmt.Errorf("%w before the next attempt: %w", err, r.last)
	}
	return result{err: err, class: classCallerDone}
}

// tooManyAbandoned reports whether abandoned attempts keep further ones from being made.
func (r *run) tooManyAbandoned() bool {
	return r.plan.enforced && r.plan.abandoned.count() >= r.plan.maxAbandoned
}
