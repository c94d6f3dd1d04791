package extension

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// demanded is what few attempts need. Each is made when somebody asks for it, and guarded by the
// attempt's mu.
type demanded struct {
	root     root          // made when somebody asks for Done before the attempt is over
	limit    time.Time     // the attempt's own, as it was told; zero: there is none, or nobody has asked
	response *response     // a private one
	returned chan struct{} // closed when the attempt has returned; made when the field waits for it
	told     bool          // returned is closed
	before   *attempt      // the attempt before this one, which has not begun; nil: none

	// own is a copy of the field context of an attempt that may be abandoned. In fc, gqlgen writes
	// the result and reads what MarkNonNull writes, which an abandoned attempt may still call.
	own *graphql.FieldContext

	// written is closed when gqlgen has seen the attempt's context. nil: nobody needs to know.
	written chan struct{}
	seen    atomic.Bool // written is closed, or about to be

	items error // what a batch of which nothing has failed tells of its items; nil: nothing
}

// demand returns what there is, after it has made a place for it.
func (a *attempt) demand() *demanded {
	if d := a.demanded.Load(); d != nil {
		return d
	}
	d := &demanded{}
	a.demanded.Store(d)
	return d
}

// rooted returns the root, nil if nobody has asked for Done or the attempt is over.
func (a *attempt) rooted() *root {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.demanded.Load()
	if d == nil || d.root.Context == nil || a.state.Load() == over {
		return nil
	}
	a.catchUpLocked()
	return &d.root
}

// timeLimit returns when the attempt's own time is up, always in the same words: to read the clock anew
// would move it by the time that this takes. It is zero if there is none.
func (a *attempt) timeLimit() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.timeLimitLocked()
}

func (a *attempt) timeLimitLocked() time.Time {
	d := a.demand()
	if d.limit.IsZero() {
		d.limit = a.TimeLimit()
	}
	return d.limit
}

// before returns the attempt before one that has not begun, nil if there is none.
func (a *attempt) before() *attempt {
	if d := a.demanded.Load(); d != nil {
		return d.before
	}
	return nil
}

// catchUp tells those who wait if the attempt's context has ended.
func (a *attempt) catchUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.catchUpLocked()
}

// catchUpLocked ends the root if the attempt's context has ended.
func (a *attempt) catchUpLocked() {
	d := a.demanded.Load()
	if d == nil || d.root.Context == nil || d.root.ended() {
		return
	}
	switch a.state.Load() {
	case ready, running, abandoned:
		if err := a.Attempt.Err(); err != nil {
			d.root.endWith(&a.Attempt, err)
		}
	case expired:
		d.root.endWith(&a.Attempt, a.Ended())
	case over:
		if a.Caller().Err() != nil {
			a.releaseLocked()
		}
	case released:
		d.root.endWith(a.Caller(), cmp.Or(a.Caller().Err(), context.Canceled))
	}
}

// returned returns a channel that is closed when the attempt has returned.
func (a *attempt) returned() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.demand()
	if d.returned == nil {
		d.returned = make(chan struct{})
	}
	if state := a.state.Load(); state != running {
		d.returnLocked()
	}
	return d.returned
}

// returnLocked closes returned, if somebody has asked for it.
func (d *demanded) returnLocked() {
	if d.returned != nil && !d.told {
		d.told = true
		close(d.returned)
	}
}

// fieldContext is what the attempt finds as its field context.
func (a *attempt) fieldContext() *graphql.FieldContext {
	if !a.under.enforced {
		return a.fc
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ownLocked()
	return a.demand().own
}

// ownLocked gives an attempt that may be abandoned a field context of its own.
func (a *attempt) ownLocked() {
	if !a.under.enforced {
		return
	}
	if d := a.demand(); d.own == nil {
		d.own = a.ownFieldContext()
	}
}

// ownFieldContext returns a field context like fc, as it was before the first attempt, of which gqlgen knows
// nothing. It looks at nothing of fc that is ever written: a goroutine that a resolver has left behind may be who
// asks, while gqlgen writes the result.
func (a *attempt) ownFieldContext() *graphql.FieldContext {
	return &graphql.FieldContext{
		Parent: a.fc.Parent, Object: a.fc.Object, Args: a.fc.Args, Field: a.fc.Field, Index: a.fc.Index,
		IsMethod: a.fc.IsMethod, IsResolver: a.fc.IsResolver, NonNull: a.marked, Child: a.fc.Child,
	}
}

// private returns the context that holds the attempt's own response context.
func (a *attempt) private() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.demand()
	if d.response == nil {
		d.response = newResponse(graphql.GetOperationContext(a.Caller()))
	}
	return d.response.context
}

// responded returns the attempt's own response, nil if it never asked for one.
func (a *attempt) responded() *response {
	d := a.demanded.Load()
	if d == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return d.response
}

// notice closes written once this context is used from within the innermost next, by which
// time gqlgen has stored it.
func (a *attempt) notice() {
	if !a.notices {
		return
	}
	if d := a.demanded.Load(); !d.seen.Load() && insideNext() && d.seen.CompareAndSwap(false, true) {
		close(d.written)
	}
}

// insideNext reports whether the calling goroutine, which is that of an attempt, is running
// gqlgen's own next: the function literal in graphql.resolveField.
func insideNext() bool {
	return calledBy("github.com/99designs/gqlgen/graphql.resolveField[...].func", anywhere)
}
