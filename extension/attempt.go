package extension

import (
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
// field's when it is over, and an attempt that was abandoned must never reach the field's.
type attempt struct {
	field  context.Context // what the middleware was called with
	policy context.Context // within field; ends with the attempt
	op     *operation
	value  any   // what the resolver returned
	err    error // likewise

	state atomic.Int32 // one of the states below; changed under mu

	mu sync.Mutex
	// All below is guarded by mu.
	root     root          // made when somebody asks for Done while running
	unwatch  func() bool   // stops watching the context that ends the root
	response *response     // a private one, made when somebody asks for it
	returned chan struct{} // closed when the attempt is over; made when the field waits for it

	// written is closed when gqlgen has seen this context. nil: nobody needs to know.
	written chan struct{}
	seen    atomic.Bool // written is closed, or about to be

	timeUp error // what the root ended with before the attempt was over; set by then
}

const (
	running   int32 = iota // everything is the attempt's
	over                   // it has returned: everything is the field's again
	released               // so has the operation: the context has ended
	abandoned              // it is cancelled, and private for good
)

var _ context.Context = (*attempt)(nil)

// current is the context that the attempt stands for now.
func (a *attempt) current() context.Context {
	if state := a.state.Load(); state == over || state == released {
		return a.field
	}
	return a.policy
}

// Deadline is the attempt's, and the field's once the attempt is over.
func (a *attempt) Deadline() (time.Time, bool) {
	a.notice()
	return a.current().Deadline()
}

// Err is the attempt's, and the field's once the attempt is over.
func (a *attempt) Err() error {
	a.notice()
	if err := a.current().Err(); err != nil {
		return err
	}
	switch a.state.Load() {
	case released:
		return context.Canceled
	case over:
		if a.timeUp != nil && beingDerivedFrom() {
			return a.timeUp
		}
	}
	return nil
}

// Value finds what the field's context holds, but for an attempt that is not over the
// response context is a private one.
func (a *attempt) Value(key any) any {
	a.notice()
	switch state := a.state.Load(); {
	case state == over:
	case key == responseKey && state != released:
		return a.private().Value(key)
	case key == cancelKey:
		if root, ok := a.rooted(); ok {
			return root.Value(key)
		}
	}
	return a.current().Value(key)
}

// Done is closed when the attempt is cancelled while it runs. A channel obtained while it ran,
// and still waited on afterwards, is closed when the field's context ends, or the response that
// the field belongs to is done.
func (a *attempt) Done() <-chan struct{} {
	a.notice()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Load() == over {
		return a.field.Done()
	}
	if a.root.Context == nil {
		if a.policy.Done() == nil {
			return nil
		}
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

// catchUpLocked ends the root if the attempt's time is up.
func (a *attempt) catchUpLocked() {
	if state := a.state.Load(); a.root.Context != nil && (state == running || state == abandoned) {
		if err := a.policy.Err(); err != nil {
			a.root.endWith(a.policy, err)
		}
	}
}

// finish makes the context the field's again, unless the attempt was abandoned.
func (a *attempt) finish() {
	if a.handBack() {
		a.op.scope.Load().add(a)
	}
}

// handBack makes the context the field's, and reports whether somebody may still wait for
// the attempt's to be done.
func (a *attempt) handBack() (awaited bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Load() != running {
		return false
	}
	a.catchUpLocked()
	if a.root.Context != nil {
		a.timeUp = a.root.Err()
	}
	a.state.Store(over)
	if a.returned != nil {
		close(a.returned)
	}
	if a.root.Context == nil || a.timeUp != nil {
		return false
	}
	a.unwatch()
	a.unwatch = context.AfterFunc(a.field, a.release)
	return true
}

// release ends the context of an attempt that was over.
func (a *attempt) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Load() == over {
		a.state.Store(released)
		a.unwatch()
		err := a.field.Err()
		if err == nil {
			err = context.Canceled
		}
		a.root.endWith(a.field, err)
	}
}

// abandon cuts the attempt off from the field. It reports false if the attempt is over.
func (a *attempt) abandon() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Load() != running {
		return false
	}
	a.state.Store(abandoned)
	return true
}

// end returns a channel that is closed when the attempt is over.
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

// own returns the attempt's own response, nil if it never asked for one.
func (a *attempt) own() *response {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.response
}

// deliver gives the field's response what the attempt added to it. The attempt must be over.
func (a *attempt) deliver() {
	if own := a.own(); own != nil {
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
	return calledBy("github.com/99designs/gqlgen/graphql.resolveField[...].func")
}
