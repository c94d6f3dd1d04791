package extension

import (
	"context"
	"runtime"
	"strings"
	"time"
)

// root is what hangs on an attempt's context while it runs: who waits for Done, and contexts
// derived from it. It ends once, with the attempt's time or after the attempt is over, and
// needs the attempt's lock.
//
// Beneath a context of its own making, package context ends those derived at once and with no
// goroutine for each. Beneath one that it does not know, it asks for Err when it gets round to
// it, and panics where the attempt is over by then and has none.
type root struct {
	context.Context // the one that package context made
	source          *source
}

func newRoot() root {
	s := &source{}
	made, cancel := context.WithCancel(s)
	_ = cancel // it is the source that ends it
	return root{made, s}
}

// endWith ends what hangs on the root, with err and the cause of by.
func (r root) endWith(by context.Context, err error) {
	if r.source.err == nil {
		r.source.by, r.source.err = by, err
		r.source.end()
	}
}

// source is the context that a root is derived from. What it says is asked for by end alone.
type source struct {
	end func() // given by package context
	by  context.Context
	err error
}

// never is closed never: AfterFunc tells of the source's end.
var never = make(chan struct{})

func (s *source) Deadline() (time.Time, bool) { return time.Time{}, false }
func (s *source) Done() <-chan struct{}       { return never }
func (s *source) Err() error                  { return s.err }

func (s *source) Value(key any) any {
	if s.by == nil {
		return nil
	}
	return s.by.Value(key)
}

// AfterFunc makes package context wait on no goroutine.
func (s *source) AfterFunc(f func()) (stop func() bool) {
	s.end = f
	return func() bool { return false }
}

// cancelKey is the key under which package context finds the context that knows its children.
var cancelKey = keyAskedFor(func(ctx context.Context) { _ = context.Cause(ctx) })

// beingDerivedFrom reports whether the caller is package context deriving a context, which
// asks for an error only where it has seen Done closed.
func beingDerivedFrom() bool {
	return calledBy("context.(*cancelCtx).propagateCancel")
}

// calledBy reports whether a function whose name begins like that is running on the calling
// goroutine.
func calledBy(function string) bool {
	var callers [128]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
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
