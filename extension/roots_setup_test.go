package extension_test

import (
	"context"
	"sync"
	"sync/atomic"
)

// watchedContext counts those who wait for its end.
type watchedContext struct {
	context.Context
	done    chan struct{}
	waiting *atomic.Int64
}

func (w *watchedContext) Done() <-chan struct{} { return w.done }

func (w *watchedContext) AfterFunc(func()) (stop func() bool) {
	w.waiting.Add(1)
	return sync.OnceValue(func() bool { w.waiting.Add(-1); return true })
}

// hasty is a context whose Err tells of an end before its Done does.
type hasty struct {
	context.Context
	ended *atomic.Bool
}

func (h hasty) Done() <-chan struct{} { return make(chan struct{}) }

func (h hasty) Err() error {
	if h.ended.Load() {
		return context.Canceled
	}
	return nil
}

// trapped is a context that calls something whenever it has told its Done.
type trapped struct {
	context.Context
	sprung *atomic.Pointer[func()]
}

func (c trapped) Done() <-chan struct{} {
	defer func() {
		if spring := c.sprung.Swap(nil); spring != nil {
			(*spring)()
		}
	}()
	return c.Context.Done()
}
