package policy

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gqlresilience/gqlresilience/internal/ctxkey"
)

// Attempt is the context of one attempt, which adapters embed in what they keep of it: see
// [Attempter]. It ends when the attempt's time is up, or with the caller's context. One that has
// a time limit also ends when the attempt does. The zero value is an attempt that no policy has
// taken from its [Maker] yet, and no context before that.
//
// It knows which gates the attempt has passed, so that a call under the same policy inside the
// attempt does not pass them again.
type Attempt struct {
	caller context.Context
	plan   *plan
	outer  *Attempt // that this one runs inside of, if any
	budget *Budget  // of the operation that the attempt is part of, if it has one

	deadline instant // 0: none but the caller's
	timeUp   *Error  // why the context ends at the deadline
	made     atomic.Pointer[madeContext]

	began  instant // 0: nobody asks for its end to be told
	number int32
	passed gateSet
	phase  atomic.Uint32 // one of those below
}

// gateSet are gates that an attempt has passed.
type gateSet uint8

const (
	passedBreaker  gateSet = 1 << iota // with the permit of the plan's breaker
	passedLimiter                      // with a token of the plan's
	passedBulkhead                     // with a slot of the plan's
	passedTurns                        // as one of those that budget lets run at once
)

const (
	underWay    uint32 = iota
	keepingSlot        // it was abandoned, and keeps nothing but its slot until it ends
	done               // it holds nothing any more
)

// madeContext is an attempt's context as package context makes it, with a timer and a channel.
type madeContext struct {
	context.Context
	cancel context.CancelFunc
}

type attemptKey struct{}

// AttemptFromContext returns the number, from 1, of the attempt that ctx belongs to, and 0
// outside of one. A resolver uses it to bypass a cache or a dataloader on a retry.
func AttemptFromContext(ctx context.Context) int {
	if a := attemptOf(ctx); a != nil {
		return int(a.number)
	}
	return 0
}

func attemptOf(ctx context.Context) *Attempt {
	a, _ := ctx.Value(attemptKey{}).(*Attempt)
	return a
}

// attempt lets nothing but what embeds an Attempt be an [Attempter].
func (a *Attempt) attempt() *Attempt { return a }

// Caller returns the context that the call was made with.
func (a *Attempt) Caller() context.Context { return a.caller }

// Deadline returns the attempt's own deadline, or the caller's if that is sooner.
func (a *Attempt) Deadline() (deadline time.Time, ok bool) {
	if a.deadline == 0 {
		return a.caller.Deadline()
	}
	return a.context().Deadline()
}

// TimeLimit returns when the attempt's own time is up, zero if that has no limit. Unlike
// Deadline it makes no context.
func (a *Attempt) TimeLimit() time.Time {
	if a.deadline == 0 {
		return time.Time{}
	}
	return a.deadline.time()
}

// Done is closed when the context has ended.
func (a *Attempt) Done() <-chan struct{} {
	if a.deadline == 0 {
		return a.caller.Done()
	}
	return a.context().Done()
}

// Err returns why the context has ended, nil if it has not.
func (a *Attempt) Err() error {
	if a.deadline == 0 {
		return a.caller.Err()
	}
	if a.made.Load() == nil && a.phase.Load() == underWay && now() < a.deadline && a.caller.Err() == nil {
		return nil
	}
	made := a.context()
	if made.Err() == nil && now() >= a.deadline {
		awaitEnd(made) // its timer is due; see outOfTime
	}
	return made.Err() // which does not change any more once it is not nil
}

// Value finds the attempt itself, and what the caller's context holds.
func (a *Attempt) Value(key any) any {
	switch key {
	case attemptKey{}:
		return a
	case ctxkey.Cancel: // asked for once Done was, or Err has told of an end
		if made := a.made.Load(); made != nil {
			return made.Value(key)
		}
	}
	return a.caller.Value(key)
}

// context returns the context that package context makes, once somebody asks for more than
// whether it has ended. Few do, and a timer and a channel are most of what an attempt would cost.
func (a *Attempt) context() context.Context {
	if made := a.made.Load(); made != nil {
		return made
	}
	if a.phase.Load() == underWay {
		return a.contextWithin(a.caller)
	}
	ended, cancel := context.WithCancel(context.WithoutCancel(a.caller)) // neither the time nor the caller's context did
	cancel()
	return a.contextWithin(ended)
}

// contextWithin makes the context, unless there is one.
func (a *Attempt) contextWithin(caller context.Context) context.Context {
	if a.callerTimedOutLater() {
		caller = context.WithoutCancel(caller)
	}
	ctx, cancel := context.WithDeadlineCause(caller, a.deadline.time(), a.timeUp)
	made := &madeContext{ctx, cancel}
	if !a.made.CompareAndSwap(nil, made) {
		cancel()
		return a.made.Load()
	}
	if a.phase.Load() != underWay { // before or just now
		cancel()
	}
	return made
}

// end ends the attempt, and with it a context that has a deadline. What it holds of the gates it
// gives back, but for the slot of an abandoned one whose bulkhead says so.
func (a *Attempt) end(abandoned bool) {
	keeps := abandoned && a.plan.bulkhead != nil && a.plan.bulkhead.settings.holdAbandoned
	if !keeps || !a.phase.CompareAndSwap(underWay, keepingSlot) { // it may have landed before
		a.phase.Store(done)
		a.releaseSlot()
	}
	if made := a.made.Load(); made != nil { // looked for after the change, which context looks for after it has made one
		made.cancel()
	}
}

// landed is told of an abandoned attempt when it has ended after all.
func (a *Attempt) landed() {
	if a.phase.Swap(done) == keepingSlot {
		a.releaseSlot()
	}
}

func (a *Attempt) releaseSlot() {
	if a.passed&passedBulkhead != 0 {
		a.plan.bulkhead.release()
	}
}

// Ended returns Err's error if somebody may know of it: who has asked for Done or Deadline, has
// derived a context, or was told by Err. Otherwise it is nil, though the time may be up: who has asked
// for no more than values was told of no end.
func (a *Attempt) Ended() error {
	if made := a.made.Load(); made != nil {
		return made.Err()
	}
	return nil
}

// outOfTime reports whether the attempt's time was up before the caller's context ended.
func (a *Attempt) outOfTime() bool {
	if a.deadline == 0 || now() < a.deadline {
		return false
	}
	a.decide()
	made := a.made.Load()
	awaitEnd(made) // its timer is due, unless the caller's context names an earlier deadline and does not keep it
	return made.Err() == nil || context.Cause(made) == error(a.timeUp) && context.Cause(a.caller) != error(a.timeUp)
}

// decide makes the context of an attempt that has ended with its time or with the caller's context,
// so that whoever asks late is told that too.
func (a *Attempt) decide() {
	if a.deadline != 0 && a.made.Load() == nil {
		a.contextWithin(a.caller)
	}
}

// callerTimedOutLater reports whether the caller's context has ended at a deadline after the attempt's.
func (a *Attempt) callerTimedOutLater() bool {
	err := a.caller.Err()
	if err == nil || !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	deadline, ok := a.caller.Deadline()
	return ok && deadline.After(a.deadline.time())
}

// has reports whether the attempt, or one around it, has passed the gate and still holds what it was
// granted there.
func (a *Attempt) has(passed gateSet, is func(*Attempt) bool) bool {
	for ; a != nil; a = a.outer {
		if a.passed&passed == 0 || !is(a) {
			continue
		}
		if phase := a.phase.Load(); phase == underWay || phase == keepingSlot && passed == passedBulkhead {
			return true
		}
	}
	return false
}

// holdsBreaker reports whether the attempt, or one around it, runs with b's permit.
func (a *Attempt) holdsBreaker(b *CircuitBreaker) bool {
	return a.has(passedBreaker, func(o *Attempt) bool { return o.plan.breaker == b })
}

// holdsSlot reports whether the attempt, or one around it, has a slot of b.
func (a *Attempt) holdsSlot(b *Bulkhead) bool {
	return a.has(passedBulkhead, func(o *Attempt) bool { return o.plan.bulkhead == b })
}

// holdsToken reports whether the attempt, or one around it, runs with l's token.
func (a *Attempt) holdsToken(l *RateLimiter) bool {
	return a.has(passedLimiter, func(o *Attempt) bool { return o.plan.limiter == l })
}

// holdsTurn reports whether the attempt, or one around it, is one of those that b lets run.
func (a *Attempt) holdsTurn(b *Budget) bool {
	return a.has(passedTurns, func(o *Attempt) bool { return o.budget == b })
}
