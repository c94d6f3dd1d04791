package extension

import (
	"context"
	"runtime"
	"strings"
	"time"
)

// How far up the calling goroutine's stack calledBy looks.
const (
	nearby   = 16 // a few contexts between the caller and the attempt's
	anywhere = 128
)

// calledBy reports whether a function whose name begins like that is among the last calls on the
// calling goroutine.
func calledBy(function string, depth int) bool {
	callers := make([]uintptr, depth)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
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

// deriving is where package context asks for the deadline of a context that it derives one from.
var deriving = func() uintptr {
	asked := &deadlineAsked{Context: context.Background()}
	_, cancel := context.WithDeadlineCause(asked, time.Now(), nil)
	cancel()
	return asked.from
}()

type deadlineAsked struct {
	context.Context
	from uintptr
}

func (a *deadlineAsked) Deadline() (time.Time, bool) {
	var callers [1]uintptr
	runtime.Callers(2, callers[:])
	a.from = callers[0]
	return time.Time{}, true
}

// calledToDerive reports whether package context derives a context with a deadline from one nearby.
// Names cost microseconds, and a place, which is most often found, a tenth of that; but a compiler that is
// given a profile may put the function in other places too.
func calledToDerive() bool {
	var callers [4]uintptr
	for _, from := range callers[:runtime.Callers(3, callers[:])] {
		if from == deriving {
			return true
		}
	}
	return calledBy("context.WithDeadlineCause", nearby)
}
