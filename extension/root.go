package extension

import (
	"context"
	"runtime"
	"strings"
	"time"
)

// root carries all that hangs on an attempt's context while it runs: waiters on Done, and
// derived contexts. It ends once, with the attempt's time, its failure or, if it succeeds, the
// operation, and needs the attempt's lock.
//
// Under a parent that package context did not make, it starts a goroutine for each derived
// context, which reads the parent's Err later and panics if the attempt, over by then, has
// none. So there is a context of its own making in between.
type root struct {
	context.Context // the one that package context made
	parent          *parent
}

func newRoot() root {
	p := &parent{}
	made, cancel := context.WithCancel(p)
	_ = cancel // it is the parent that ends it
	return root{made, p}
}

// endWith ends what hangs on the root, with err and the cause of by.
func (r root) endWith(by context.Context, err error) {
	if r.parent.err == nil {
		r.parent.by, r.parent.err = by, err
		r.parent.end()
	}
}

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

// How far up the calling goroutine's stack calledBy looks.
const (
	nearby   = 16 // a few contexts between the caller and the attempt's
	anywhere = 128
)

// calledBy reports whether a function whose name begins like that is among the last calls on the
// calling goroutine.
func calledBy(function string, depth int) bool {
	var callers [anywhere]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:depth])])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, function) {
			return true
		}
		if !more {
			return false
		}
	}
}
