package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Run runs the call under p, as [Execute] does, for adapters. The value is what a fallback has
// returned, and nil without one: what the function has returned is with the last attempt, to be looked
// at where [Call.Own] says so.
//
// The stages before and after the function return before it is called and begin after it has
// returned: its goroutine, one of gqlgen's, has a small stack, and what lies under the function is
// copied when that grows.
func (p *Policy) Run(ctx context.Context, call *Call) (any, error) {
	call.begin(p, ctx)
	defer call.leave() // also if the function panics or ends its goroutine
	for {
		if call.admit() {
			if call.plan.enforced {
				call.launch()
			} else {
				call.err = call.attempter.Try()
			}
			call.judge()
			call.release()
		}
		if !call.retry() {
			return call.answer()
		}
	}
}

// state is how far a call has come.
type state struct {
	// What the attempt, and in the end the call, came to.
	own         bool // err, or that there is none, is what the attempt came to by itself
	raised      bool // err is a panic to be raised again
	abandoned   bool // the attempt is
	answeredFor bool // the fallback has answered for err
	class       class
	outOfTotal  bool // at end, the total timeout ends; otherwise the operation's time
	err         error

	policy    *Policy
	plan      *plan
	caller    context.Context
	outer     *Attempt  // that the call is made in, if any
	began     instant   // 0: nobody asks for the call's end to be told
	end       instant   // the time limit of all attempts together; 0: none
	waited    *waited   // nil: the call has not waited
	number    int       // of the attempt
	attempter Attempter // the last
	held      holding   // of the attempt being made
}

// waited is what only a call needs that waits.
type waited struct {
	context.Context        // the caller's, with the time limit of all attempts together
	cancel          func() // nil: there is no limit
	failure         error  // of the attempt before the wait; nil: there was none
}

// begin sets the limits of all attempts together: the total timeout, and the operation's.
func (c *Call) begin(p *Policy, ctx context.Context) {
	c.policy, c.plan, c.caller, c.outer = p, p.plan.Load(), ctx, attemptOf(ctx)
	c.began, c.class = c.beginning(), classPanic // which a panic leaves in place
	if c.Budget == nil && c.outer != nil {
		c.Budget = c.outer.budget
	}
	if c.Budget != nil && c.Budget.deadline != 0 {
		c.end = c.Budget.deadline
	}
	if c.plan.total > 0 {
		if end := now().add(c.plan.total); c.end == 0 || end < c.end {
			c.end, c.outOfTotal = end, true
		}
	}
}

// endedBy is why the call ends at its end.
func (c *Call) endedBy() *Error {
	switch {
	case c.end == 0:
		return nil
	case c.outOfTotal:
		return c.policy.totalTimeUp
	default:
		return c.Budget.timeUp
	}
}

// makeAttempt makes the attempt, which the gates have let pass.
func (c *Call) makeAttempt() {
	attempter := c.Maker.MakeAttempt(c.caller, c.State, c.Function, c.attempter)
	a := attempter.attempt()
	a.caller, a.plan, a.outer, a.budget = c.caller, c.plan, c.outer, c.Budget
	a.number = int32(min(c.number, math.MaxInt32))
	a.deadline, a.timeUp = c.end, c.endedBy()
	if c.plan.timeout > 0 {
		if deadline := now().add(c.plan.timeout); a.deadline == 0 || deadline < a.deadline {
			a.deadline, a.timeUp = deadline, c.policy.attemptTimeUp
		}
	}
	a.passed, a.began = c.held.passed, c.beginning()
	c.held.attempt, c.attempter, c.own, c.class = a, attempter, true, classPanic
}

// judge decides what the outcome of the attempt was. Once its time was up it is a timeout, whatever
// the function returned after that.
func (c *Call) judge() {
	a, limit := c.held.attempt, time.Duration(0)
	switch {
	case a.outOfTime():
		limit = c.limit(a.timeUp)
		c.timeOut(a.timeUp, c.err)
	case c.abandoned:
		c.err, c.class, c.own = ended(a), classCallerDone, false
	case c.err == nil:
		c.class, c.held.verdict = classSuccess, success
		return
	default:
		awaitTimer(c.caller)
		c.class = classify(c.err, c.policy.registry.isClassified)
	}
	if c.abandoned {
		c.publishAbandoned(limit)
	}
	if c.caller.Err() != nil {
		c.class = classCallerDone
		a.decide()
	}
	if c.held.permitted {
		c.held.verdict = c.plan.breaker.verdict(c.class, c.err)
	}
}

// timeOut makes the attempt a timeout, after the failure cause, if any.
func (c *Call) timeOut(timeUp *Error, cause error) {
	timeout := *timeUp
	timeout.Policy, timeout.Source, timeout.Cause = c.policy.name, c.policy.source, unmarked(cause)
	c.err, c.class, c.raised, c.own = &timeout, classTimeout, false, false
	if c.Budget != nil && timeUp == c.Budget.timeUp {
		c.class = classOutOfTime
	}
	c.publishTimeout(timeUp, &timeout)
}

// over reports whether no further attempt can be made, for the caller has gone or time is up.
func (c *Call) over() bool { return c.end != 0 && now() >= c.end || c.caller.Err() != nil }

// interrupt ends a call that was over while no attempt was running.
func (c *Call) interrupt() {
	c.own = false
	if timeUp := c.endedBy(); timeUp != nil && c.caller.Err() == nil {
		c.timeOut(timeUp, c.failure())
		return
	}
	err := ended(c.caller)
	if failure := c.failure(); failure != nil {
		err = fmt.Errorf("%w before the next attempt: %w", err, failure)
	}
	c.err, c.class = err, classCallerDone
}

// retry reports whether there is to be another attempt, after it has waited until it is time.
func (c *Call) retry() bool {
	if c.class == classSuccess || !c.retried() {
		return false
	}
	ctx := c.toWait()
	delay, worthwhile := c.plan.retry.delay(ctx, c.err, c.number)
	if !worthwhile || !c.Budget.takeRetry() {
		return false
	}
	c.publishRetry(delay)
	ctx.failure = unmarked(c.err)
	c.err, c.raised, c.abandoned = nil, false, false
	if sleep(ctx, delay) {
		return true
	}
	c.interrupt()
	return false
}

func (c *Call) retried() bool {
	retry := c.plan.retry
	switch {
	case retry == nil, c.NoRetry, c.abandoned && c.AbandonEnds:
		return false
	case retry.attempts != Unlimited && c.number >= retry.attempts:
		return false
	case retry.retryIf != nil && c.class.ofFunction():
		return retry.retryIf(c.err, c.number)
	default:
		return c.class.retried()
	}
}

// answer is the end of the call, with the fallback if it is to answer.
func (c *Call) answer() (any, error) {
	if c.class == classSuccess {
		return nil, nil
	}
	err := unmarked(c.err)
	if f := c.plan.fallback; f != nil && !(c.abandoned && c.AbandonEnds) && f.answers(c.class, err) {
		if value, fallbackErr := f.fn(c.caller, err); !errors.Is(fallbackErr, ErrNoFallback) {
			return value, c.answered(fallbackErr, err)
		}
	}
	if c.raised {
		panic(err)
	}
	return nil, err
}

// answered is the error of a call whose fallback was asked about err.
func (c *Call) answered(fallbackErr, err error) error {
	c.publishFallback(err, fallbackErr != nil)
	switch {
	case fallbackErr == nil:
		c.own, c.answeredFor, c.err = false, true, err
		return nil
	case same(fallbackErr, err):
		return fallbackErr
	default:
		c.own, c.err = false, &FallbackError{Err: fallbackErr, Cause: err}
		return c.err
	}
}

// toWait returns the caller's context with the time limit of all attempts together.
func (c *Call) toWait() *waited {
	switch {
	case c.waited != nil:
	case c.end == 0:
		c.waited = &waited{Context: c.caller}
	default:
		ctx, cancel := context.WithDeadlineCause(c.caller, c.end.time(), c.endedBy())
		c.waited = &waited{Context: ctx, cancel: cancel}
	}
	return c.waited
}

// failure is that of the attempt before, nil if there was none.
func (c *Call) failure() error {
	if c.waited == nil {
		return nil
	}
	return c.waited.failure
}

// leave gives back what the call still has.
func (c *Call) leave() {
	c.release()
	if c.waited != nil && c.waited.cancel != nil {
		c.waited.cancel()
	}
	if c.began != 0 {
		c.publishCall()
	}
}
