package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// The stages of a call, outermost first: withFallback, withinTotal, withRetries, attempt, try.
//
// Their frames, and those of the gates, lie under every resolver, on a goroutine of gqlgen's that
// began with a small stack: what few calls need, such as events, is put together elsewhere.

// result is how an attempt, and in the end the run, came out.
type result struct {
	err       error
	class     class
	own       bool // err, or that there is none, is what the attempt came to by itself
	raised    bool // err is a panic to be raised again
	abandoned bool
}

// withFallback is the fallback stage.
func (c *Call) withFallback() (any, error) {
	res := c.withinTotal()
	if res.class == classSuccess {
		c.Own = true
		return nil, nil
	}
	err := unmarked(res.err)
	if f := c.plan.fallback; f != nil && !c.ended(res) && f.answers(res, err) {
		if value, fallbackErr := f.fn(c.caller, err); !errors.Is(fallbackErr, ErrNoFallback) {
			return c.answered(value, fallbackErr, err)
		}
	}
	if res.raised {
		panic(err)
	}
	c.Own = res.own
	return nil, err
}

// answered is the end of a run whose fallback was asked about err.
func (c *Call) answered(value any, fallbackErr, err error) (any, error) {
	c.publishFallback(err, fallbackErr != nil)
	if fallbackErr != nil {
		if !same(fallbackErr, err) {
			fallbackErr = &FallbackError{Err: fallbackErr, Cause: err}
		}
		return value, fallbackErr
	}
	c.Answered = err
	return value, nil
}

// ended reports whether an abandoned attempt ends the run.
func (c *Call) ended(res result) bool { return res.abandoned && c.AbandonEnds }

// withinTotal is the total timeout, and the deadline of the operation.
func (c *Call) withinTotal() result {
	if c.Budget != nil && c.Budget.deadline != 0 {
		c.end, c.endedBy = c.Budget.deadline, c.Budget.timeUp
	}
	if c.plan.total > 0 {
		if end := now().add(c.plan.total); c.end == 0 || end < c.end {
			c.end, c.endedBy = end, c.policy.totalTimeUp
		}
	}
	defer c.stopWaiting()
	return c.withRetries()
}

// withRetries is the retry stage.
func (c *Call) withRetries() result {
	for number := 1; ; number++ {
		res := c.attempt(number)
		if res.class == classSuccess || !c.retries(res, number) {
			return res
		}
		if res, again := c.backOff(res, number); !again {
			return res
		}
	}
}

// backOff waits until it is time for another attempt, after one that has come to res. If there is
// to be none, it returns what the call has come to.
func (c *Call) backOff(res result, number int) (end result, again bool) {
	ctx := c.toWait()
	delay, worthwhile := c.plan.retry.delay(ctx, res.err, number)
	if !worthwhile || !c.Budget.takeRetry() {
		return res, false
	}
	c.publishRetry(number, delay, res.err)
	c.last = unmarked(res.err)
	if !sleep(ctx, delay) {
		return c.interrupted(number), false
	}
	return result{}, true
}

func (c *Call) retries(res result, attempt int) bool {
	retry := c.plan.retry
	switch {
	case retry == nil, c.NoRetry, c.ended(res):
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
func (c *Call) attempt(number int) (res result) {
	h := holding{verdict: failure} // which a panic or Goexit leaves in place
	defer c.release(&h)
	if res, admitted := c.admit(&h, number); !admitted {
		return res
	}
	return c.try(&h, number)
}

// try makes the call, for as long as the attempt may take.
func (c *Call) try(h *holding, number int) result {
	attempter := c.Maker.MakeAttempt(c.caller, c.State, c.Function, c.Last)
	a := attempter.attempt()
	a.caller, a.plan, a.outer, a.budget = c.caller, c.plan, c.outer, c.Budget
	a.number = int32(min(number, math.MaxInt32))
	a.deadline, a.timeUp = c.end, c.endedBy
	if c.plan.timeout > 0 {
		if deadline := now().add(c.plan.timeout); a.deadline == 0 || deadline < a.deadline {
			a.deadline, a.timeUp = deadline, c.policy.attemptTimeUp
		}
	}
	a.marks.Store(h.marks)
	h.attempt, c.Last = a, attempter

	res := result{own: true}
	if c.plan.enforced {
		res = c.launch(attempter, a)
		h.abandoned = res.abandoned
	} else {
		res.err = attempter.Try()
	}
	if res = c.judge(a, res); h.permitted {
		h.verdict = c.plan.breaker.verdict(res)
	}
	return res
}

// judge decides what the outcome of an attempt was. Once the attempt's time was up it is a
// timeout, whatever the function returned after that.
func (c *Call) judge(a *Attempt, res result) result {
	switch {
	case a.outOfTime():
		res = c.timedOut(int(a.number), a.timeUp, res)
	case res.abandoned:
		res.err = ended(a)
	case res.err == nil:
		return res
	default:
		awaitTimer(c.caller)
		res.class = classify(res.err, c.policy.registry.isClassified)
	}
	if res.abandoned {
		c.publishAbandoned(a)
	}
	if c.caller.Err() != nil {
		res.class = classCallerDone
	}
	return res
}

// timedOut is the result of a timeout, of an attempt that has come to res.
func (c *Call) timedOut(number int, timeUp *Error, res result) result {
	timeout := *timeUp
	timeout.Policy, timeout.Source, timeout.Cause = c.policy.name, c.policy.source, unmarked(res.err)
	c.publishTimeout(number, timeUp, &timeout)
	class := classTimeout
	if c.Budget != nil && timeUp == c.Budget.timeUp {
		class = classOutOfTime
	}
	return result{err: &timeout, class: class, abandoned: res.abandoned}
}

// limit is how long the time was that is up. The operation's is not told.
func (c *Call) limit(timeUp *Error) time.Duration {
	switch timeUp {
	case c.policy.attemptTimeUp:
		return c.plan.timeout
	case c.policy.totalTimeUp:
		return c.plan.total
	default:
		return 0
	}
}

// toWait returns the caller's context with the time limit of all attempts together.
func (c *Call) toWait() context.Context {
	if c.end == 0 {
		return c.caller
	}
	if c.waiting == nil {
		left := c.end.since(now())
		ctx, cancel := context.WithDeadlineCause(c.caller, time.Now().Add(left), c.endedBy)
		c.waiting = &madeContext{ctx, cancel}
	}
	return c.waiting
}

func (c *Call) stopWaiting() {
	if c.waiting != nil {
		c.waiting.cancel()
	}
}

// over reports whether no further attempt can be made, for the caller has gone or time is up.
func (c *Call) over() bool { return c.end != 0 && now() >= c.end || c.caller.Err() != nil }

// interrupted is the result where the run was over while no attempt was running.
func (c *Call) interrupted(number int) result {
	if c.caller.Err() == nil {
		return c.timedOut(number, c.endedBy, result{err: c.last})
	}
	err := ended(c.caller)
	if c.last != nil {
		err = fmt.Errorf("%w before the next attempt: %w", err, c.last)
	}
	return result{err: err, class: classCallerDone}
}

// tooManyAbandoned reports whether abandoned attempts keep further ones from being made.
func (c *Call) tooManyAbandoned() bool {
	return c.plan.enforced && c.plan.abandoned.count() >= c.plan.maxAbandoned
}
