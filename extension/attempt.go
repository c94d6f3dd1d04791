package extension

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/internal/ctxkey"
	"github.com/gqlresilience/gqlresilience/policy"
)

// attempt is the context of one attempt at a field.
//
// gqlgen makes the context that is handed to next that of the field's children, and reports
// the field's error with it. So it must be the attempt's while the attempt is running and the
// field's when it is over. It must not come alive again once it has ended, which package
// context does not survive, unless a fallback's value has children. And an attempt that was
// abandoned must never reach the field's.
//
// It is what a field under a policy costs: all that few attempts need is made on demand.
type attempt struct {
	policy.Attempt // whose caller is the field
	op             *operation
	under          *field
	fc             *graphql.FieldContext

	guarded  bool         // gqlgen never sees this context
	selected bool         // fc is that of the field itself
	marked   bool         // fc was, by MarkNonNull, before the first attempt
	notices  bool         // demanded.written is to be closed
	state    atomic.Int32 // one of the states below

	demanded atomic.Pointer[demanded]
	mu       sync.Mutex // held for what is in demanded, and for changes of the state that have to do with that
}

const (
	running   int32 = iota // everything is the attempt's
	ready                  // its goroutine has not begun
	over                   // it has returned in time: everything is the field's again
	expired                // it has returned, but its time was up: its context stays ended, errors go to the field
	released               // it was over, and its context has ended with the operation or the next attempt's begin
	abandoned              // it is cancelled, and private for good
)

var _ context.Context = (*attempt)(nil)

// attemptKey is the key under which an attempt that has not returned finds itself.
type attemptKey struct{}

// fieldContextKey is the key under which gqlgen keeps the field context.
var fieldContextKey = ctxkey.AskedFor(func(ctx context.Context) { graphql.GetFieldContext(ctx) })

// Deadline is the attempt's, and the field's once the attempt is over.
//
// Package context makes no timer for a derived context whose deadline is later than this one.
// But this one goes when the attempt is over, and the derived one may live on. So it is told
// the field's deadline; at the attempt's, the root ends the derived context all the same.
func (a *attempt) Deadline() (time.Time, bool) {
	a.notice()
	switch a.state.Load() {
	case over, released:
		return a.Caller().Deadline()
	case running:
		if calledToDerive() {
			return a.Caller().Deadline()
		}
	}
	limit := a.timeLimit()
	if deadline, limited := a.Caller().Deadline(); limit.IsZero() || limited && deadline.Before(limit) {
		return deadline, limited
	}
	return limit, true
}

// Err is the attempt's, and the field's once the attempt is over.
func (a *attempt) Err() error {
	a.notice()
	switch a.state.Load() {
	case over:
		err := a.Caller().Err()
		if err == nil && a.Ended() != nil && calledBy("context.(*cancelCtx).propagateCancel", nearby) {
			return a.Ended() // it asks for an error only where it has seen Done closed
		}
		return err
	case released:
		return cmp.Or(a.Caller().Err(), context.Canceled)
	}
	err := a.Attempt.Err()
	if err != nil {
		a.catchUp() // the timer may be late
	}
	return err
}

// Value finds what the field's context holds. The response context is a private one, unless the
// attempt is over.
func (a *attempt) Value(key any) any {
	a.notice()
	state := a.state.Load()
	if state == over {
		return a.Caller().Value(key)
	}
	switch key {
	case ctxkey.Cancel:
		if root := a.rooted(); root != nil {
			return root.Value(key)
		}
	case responseKey:
		switch state {
		case expired:
			return forwarding(a.Caller()).Value(key)
		case ready, running, abandoned:
			return a.private().Value(key)
		}
	case fieldContextKey:
		if state == running || state == abandoned {
			return a.fieldContext()
		}
	case attemptKey{}:
		if state == running || state == abandoned {
			return a
		}
	}
	if state == released {
		return a.Caller().Value(key)
	}
	return a.Attempt.Value(key)
}

// Done is closed when the attempt is cancelled while it runs. A channel obtained while it ran,
// and still waited on when it is over, is closed when the field's context ends, when the next
// attempt begins, or when the response that the field belongs to is done.
func (a *attempt) Done() <-chan struct{} {
	a.notice()
	if a.state.Load() == over {
		return a.Caller().Done()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.demand() // before a look at the state, for the resolver that returns looks for it after its change
	switch state := a.state.Load(); {
	case state == over:
		return a.Caller().Done()
	case d.root.Context == nil:
		if state == running && a.timeLimitLocked().IsZero() && a.Caller().Done() == nil {
			return nil
		}
		d.root.make(a)
		if state == running {
			a.op.scope.Load().roots.watch(&d.root)
		}
	}
	a.catchUpLocked() // after the watch has begun, which tells only of what happens later
	return d.root.Done()
}

// begin makes the context the attempt's. It reports false if the attempt was abandoned before its
// goroutine got to run.
func (a *attempt) begin() bool {
	if a.under.enforced && !a.state.CompareAndSwap(ready, running) {
		return false
	}
	if before := a.before(); before != nil {
		if begun := before.begun(); begun != nil { // those in between, which were given up, never will
			begun.supersede()
		}
		a.mu.Lock()
		a.demand().before = nil
		a.mu.Unlock()
	}
	return true
}

// finish takes note that the attempt has returned, unless it was abandoned.
func (a *attempt) finish() {
	if a.unasked() && a.state.CompareAndSwap(running, over) && a.unasked() { // also just now
		return
	}
	a.handBack()
}

// unasked reports that nobody can wait for anything, nor was told of an end.
func (a *attempt) unasked() bool { return a.demanded.Load() == nil && a.Ended() == nil }

// handBack makes the context the field's if the attempt has returned in time. Somebody may still wait
// for the attempt's to be done.
func (a *attempt) handBack() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if state := a.state.Load(); state != running && state != over {
		return
	}
	d := a.demand()
	d.returnLocked()
	if a.Ended() != nil {
		after := expired
		if a.guarded {
			after = abandoned // there is nothing that gqlgen would report with it
			a.ownLocked()
		}
		a.state.Store(after)
		a.catchUpLocked()
		return
	}
	a.state.Store(over)
	if d.root.Context == nil {
		return
	}
	if !d.root.roots.keep(&d.root) {
		a.releaseLocked()
	}
}

// revive makes the context of an expired attempt the field's: a fallback's value answers the
// field, and its children get this context.
//
// Whoever saw Done closed before, and asks for Err only now, gets the field's, which may be nil.
// Package context, which panics at that, is told apart where it asks itself; see Err.
func (a *attempt) revive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.CompareAndSwap(expired, over)
}

// supersede ends the attempt for the next one's sake. One that is still running, as only a guarded
// one may be, is abandoned. Otherwise its context ends, for gqlgen has no use for it any more.
func (a *attempt) supersede() {
	if !a.abandon() {
		a.release()
	}
}

// release ends the context of an attempt that was over.
func (a *attempt) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.releaseLocked()
}

func (a *attempt) releaseLocked() {
	if a.state.CompareAndSwap(over, released) {
		a.catchUpLocked()
	}
}

// abandon cuts the attempt off from the field. It reports false if the
// attempt has returned.
func (a *attempt) abandon() bool {
	if state := a.state.Load(); state != running {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ownLocked() // while gqlgen does not touch the other
	return a.state.CompareAndSwap(running, abandoned)
}

// forestall keeps an attempt that has not begun from beginning. It reports false of any other.
func (a *attempt) forestall() bool {
	return a.state.Load() == ready && a.state.CompareAndSwap(ready, abandoned)
}

// deliver gives the field's response what the attempt added to it, and marks the field as the
// attempt did. The attempt must have returned.
func (a *attempt) deliver() {
	d := a.demanded.Load()
	if d == nil {
		return
	}
	a.mu.Lock()
	fc := d.own // which a goroutine that the resolver has left behind may be making
	a.mu.Unlock()
	if fc != nil && fc.NonNull && !a.fc.NonNull {
		a.fc.NonNull = true
	}
	if own := a.responded(); own != nil {
		own.deliver(a.Caller())
	}
}
