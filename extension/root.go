package extension

import (
	"context"
	"time"
)

// root carries all that hangs on an attempt's context while it runs: waiters on Done, and
// derived contexts. It ends once, with the attempt's time, its failure or, if it succeeds, the
// operation. Where nothing else is said, it needs the attempt's lock.
//
// Under a parent that package context did not make, it starts a goroutine for each derived
// context, which reads the parent's Err later and panics if the attempt, over by then, has
// none. So there is a context of its own making in between.
type root struct {
	context.Context // the one that package context made; nil: nobody has asked for Done
	parent          parent
	attempt         *attempt

	roots    *roots      // that watch it; nil: it was never watched
	deadline time.Time   // while its attempt runs; zero: it has none
	apart    func() bool // ends the watch over a caller of its own; nil: there is none

	in             *rootList // guarded by the mu of roots, as all below; nil: none
	next, previous *root
}

// make makes the context.
func (r *root) make(a *attempt) {
	made, cancel := context.WithCancel(&r.parent)
	_ = cancel // it is the parent that ends it
	r.Context, r.attempt = made, a
}

// endWith ends what hangs on the root, with err and the cause of by.
func (r *root) endWith(by context.Context, err error) {
	r.parent.by, r.parent.err = by, err
	r.parent.end()
	if r.roots != nil {
		r.roots.forget(r)
	}
	if r.apart != nil {
		r.apart()
	}
}

// ended reports whether the context has ended.
func (r *root) ended() bool { return r.parent.err != nil }

// parent is the context that a root is derived from. What it says is asked for by end alone.
type parent struct {
	end func() // given by package context
	by  context.Context
	err error
}

// never is never closed: the parent's end is reported through AfterFunc.
var never = make(chan struct{})

func (p *parent) Deadline() (time.Time, bool) { return time.Time{}, false }
func (p *parent) Done() <-chan struct{}       { return never }
func (p *parent) Err() error                  { return p.err }

func (p *parent) Value(key any) any {
	if p.by == nil {
		return nil
	}
	return p.by.Value(key)
}

// AfterFunc makes package context wait on no goroutine.
func (p *parent) AfterFunc(f func()) (stop func() bool) {
	p.end = f
	return func() bool { return false }
}
