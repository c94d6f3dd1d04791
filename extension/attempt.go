package extension

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// attempt is the context of one attempt at a field.
//
// gqlgen makes the context that is handed to next that of the field's children, and reports
// the field's error with it. So it must be the attempt's while the attempt is running and the
// field's when it is over. It must not come alive again once it has ended, which package
// context does not survive, unless a fallback's value has children. And an attempt that was
// abandoned must never reach the field's.
type attempt struct {
	field   context.Context // what the middleware was called with
	policy  context.Context // within field; ends with the attempt
	op      *operation
	fc      *graphql.FieldContext
	guarded bool  // gqlgen never sees this context
	bare    bool  // the field has no policy
	value   any   // what the resolver returned
	err     error // likewise

	// own is a copy of fc. In that, gqlgen writes the result and reads what MarkNonNull writes,
	// which an abandoned attempt may still call.
	own graphql.FieldContext

	state atomic.Int32 // one of the states below; changed under mu
	ended error        // what Err says of an expired attempt; set before it is one

	mu sync.Mutex
	// All below is guarded by mu.
	root     root          // made when somebody asks for Done before the attempt is over
	unwatch  func() bool   // stops watching the context that ends the root
	response *response     // a private one, made when somebody asks for it
	returned chan struct{} // closed when the attempt has returned; made when the field waits for it

	// written is closed when gqlgen has seen this context. nil: nobody needs to know.
	written chan struct{}
	seen    atomic.Bool // written is closed, or about to be
}

const (
	running   int32 = iota // everything is the attempt's
	over                   // it has returned in time: everything is the field's again
	expired                // it has returned, but its time was up: its context stays ended, errors go to the field
	released               // it was over, and its context has ended with the operation or the next attempt's begin
	abandoned              // it is cancelled, and private for good
)

var _ context.Context = (*attempt)(nil)

// Deadline is the attempt's, and the field's once the attempt is over.
//
// Package context makes no timer for a derived context whose deadline is later than this one.
// But this one goes when the attempt is over, and the derived one may live on. So it is told
// the field's deadline; at the attempt's, the root ends the derived context all the same.
func (a *attempt) Deadline() (time.Time, bool) {
	a.notice()
	switch a.state.Load() {
	case over, released:
		return a.field.Deadline()
	case running:
		if calledBy("context.WithDeadlineCause", nearby) {
			return a.field.Deadline()
		}
	}
	return a.policy.Deadline()
}

// Err is the attempt's, and the field's once the attempt is over.
func (a *attempt) Err() error {
	a.notice()
	switch a.state.Load() {
	case expired:
		return a.ended
	case over:
		err := a.field.Err()
		if err == nil && a.ended != nil && calledBy("context.(*cancelCtx).propagateCancel", nearby) {
			return a.ended // it asks for an error only where it has seen Done closed
		}
		return err
	case released:
		return cmp.Or(a.field.Err(), context.Canceled)
	default:
		return a.policy.Err()
	}
}

// Value finds what the field's context holds. The response context is a private one, unless the
// attempt is over.
func (a *attempt) Value(key any) any {
	a.notice()
	state := a.state.Load()
	if key == cancelKey && state != over {
		if root, ok := a.rooted(); ok {
			return root.Value(key)
		}
	}
	switch state {
	case over, released:
		return a.field.Value(key)
	case expired:
		if key == responseKey {
			return forwarding(a.field).Value(key)
		}
	default:
		switch key {
		case responseKey:
			return a.private().Value(key)
		case fieldContextKey:
			return &a.own
		case attemptKey{}:
			return a
		}
	}
	return a.policy.Value(key)
}

// fieldContextKey is the key under which gqlgen keeps the field context.
var fieldContextKey = keyAskedFor(func(ctx context.Context) { graphql.GetFieldContext(ctx) })

// attemptKey is the key under which an attempt that has not returned finds itself.
type attemptKey struct{}

// Done is closed when the attempt is cancelled while it runs. A channel obtained while it ran,
// and still waited on when it is over, is closed when the field's context ends, when the next
// attempt begins, or when the response that the field belongs to is done.
func (a *attempt) Done() <-chan struct{} {
	a.notice()
	a.mu.Lock()
	defer a.mu.Unlock()
	state := a.state.Load()
	switch {
	case state == over:
		return a.field.Done()
	case state == running && a.policy.Done() == nil:
		return nil
	case a.root.Context == nil:
		a.root = newRoot()
		a.unwatch = context.AfterFunc(a.policy, a.cancelled)
	}
	a.catchUpLocked()
	return a.root.Done()
}

// rooted returns the root, if somebody has asked for Done and the attempt is not over.
func (a *attempt) rooted() (root, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.root.Context == nil || a.state.Load() == over {
		return root{}, false
	}
	a.catchUpLocked()
	return a.root, true
}

// cancelled tells those who wait that the attempt was cancelled.
func (a *attempt) cancelled() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.catchUpLocked()
}

// catchUpLocked ends the root if the attempt's context has ended.
func (a *attempt) catchUpLocked() {
	if a.root.Context == nil {
		return
	}
	switch a.state.Load() {
	case running, abandoned:
		if err := a.policy.Err(); err != nil {
			a.root.endWith(a.policy, err)
		}
	case expired:
		a.root.endWith(a.policy, a.ended)
	case released:
		a.root.endWith(a.field, cmp.Or(a.field.Err(), context.Canceled))
	}
}

// finish takes note that the attempt has returned, unless it was abandoned.
func (a *attempt) finish() {
	if a.handBack() {
		a.op.scope.Load().add(a)
	}
}

// handBack makes the context the field's if the attempt has returned in time, and reports
// whether somebody may still wait for the attempt's to be done.
func (a *attempt) handBack() (awaited bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Load() != running {
		return false
	}
	if a.returned != nil {
		close(a.returned)
	}
	if a.root.Context != nil {
		a.unwatch()
	}
	if a.ended = a.policy.Err(); a.ended != nil {
		after := expired
		if a.guarded {
			after = abandoned // there is nothing that gqlgen would report with it
		}
		a.state.Store(after)
		a.catchUpLocked()
		return false
	}
	a.state.Store(over)
	if a.root.Context == nil {
		return false
	}
	a.unwatch = context.AfterFunc(a.field, a.release)
	return true
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

// release ends the context of an attempt that was over.
func (a *attempt) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.CompareAndSwap(over, released) && a.root.Context != nil {
		a.unwatch()
		a.catchUpLocked()
	}
}

// abandon cuts the attempt off from the field. It reports false if the
// attempt has returned.
func (a *attempt) abandon() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Load() != running {
		return false
	}
	a.state.Store(abandoned)
	return true
}

// end returns a channel that is closed when the attempt has returned.
func (a *attempt) end() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.returned == nil {
		a.returned = make(chan struct{})
		if a.state.Load() != running {
			close(a.returned)
		}
	}
	return a.returned
}

// private returns the context that holds the attempt's own response context.
func (a *attempt) private() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.response == nil {
		a.response = newResponse(graphql.GetOperationContext(a.field))
	}
	return a.response.context
}

// responded returns the attempt's own response, nil if it never asked for one.
func (a *attempt) responded() *response {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.response
}

// deliver gives the field's response what the attempt added to it, and marks the field as the
// attempt did. The attempt must have returned.
func (a *attempt) deliver() {
	if a.own.NonNull && !a.fc.NonNull {
		a.fc.NonNull = true
	}
	if own := a.responded(); own != nil {
		own.deliver(a.field)
	}
}

// notice closes written once this context is used from within the innermost next, by which
// time gqlgen has stored it.
func (a *attempt) notice() {
	if a.written != nil && !a.seen.Load() && insideNext() && a.seen.CompareAndSwap(false, true) {
		close(a.written)
	}
}

// insideNext reports whether the calling goroutine, which is that of an attempt, is running
// gqlgen's own next: the function literal in graphql.resolveField.
func insideNext() bool {
	return calledBy("github.com/99designs/gqlgen/graphql.resolveField[...].func", anywhere)
}
