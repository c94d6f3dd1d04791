package policy

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// grace is how long an attempt that was cancelled may take to return before it is abandoned.
const grace = 10 * time.Millisecond

// Watcher gives attempts up that run on after their time. One serves all calls that are made within
// one context, such as that of an operation: a timer and a watch over the context of their
// own for each attempt would cost more than the attempt's goroutine. The zero value is
// ready. It is safe for concurrent use, and must not be copied.
type Watcher struct {
	mu sync.Mutex
	// All below is guarded by mu.
	flights flights
	timer   *time.Timer
	rings   instant         // when timer does; 0: it does not
	done    <-chan struct{} // of the context that calls are made within; nil: there was none so far
	ended   bool            // that context has
	stop    func() bool     // ends the watch over it
}

// watch makes f be given up when its time is up, or its caller's context has ended.
func (w *Watcher) watch(f *flight, caller context.Context, deadline instant) {
	f.giveUp = deadline.add(grace)
	done := caller.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case done == nil:
	case w.done == nil:
		w.done, w.stop = done, context.AfterFunc(caller, func() { w.callerEnded(done) })
	case w.done != done:
		f.apart = context.AfterFunc(caller, func() { w.hurry(f) })
	case w.ended:
		f.giveUp = min(f.giveUp, now().add(grace))
	}
	heap.Push(&w.flights, f)
	w.armLocked()
}

// land takes note that the attempt has returned.
func (w *Watcher) land(f *flight) {
	w.mu.Lock()
	f.over = true
	afterward := f.afterward
	gaveUp := f.gaveUp
	if !gaveUp {
		heap.Remove(&w.flights, f.place)
	}
	w.mu.Unlock()
	if !gaveUp {
		f.landed.Done()
	}
	if afterward != nil {
		afterward()
	}
}

// abandon abandons an attempt that was given up, unless it has returned since.
func (w *Watcher) abandon(f *flight, a *Attempt, p *Policy) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.over {
		return false
	}
	ofPolicy, ofRegistry := a.plan.abandoned, &p.registry.abandoned
	ofPolicy.add()
	ofRegistry.add()
	f.afterward = func() {
		a.releaseSlot()
		ofPolicy.done()
		ofRegistry.done()
	}
	return true
}

// ring gives up the attempts whose time is up.
func (w *Watcher) ring() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rings = 0
	for at := now(); len(w.flights) > 0 && w.flights[0].giveUp <= at; {
		f := heap.Pop(&w.flights).(*flight)
		f.gaveUp = true
		f.landed.Done()
	}
	w.armLocked()
}

// armLocked makes the timer ring when the first attempt is to be given up.
func (w *Watcher) armLocked() {
	if len(w.flights) == 0 {
		return
	}
	first := w.flights[0].giveUp
	if w.rings != 0 && w.rings <= first {
		return // and then it is armed again
	}
	w.rings = first
	if left := first.since(now()); w.timer == nil {
		w.timer = time.AfterFunc(left, w.ring)
	} else {
		w.timer.Reset(left)
	}
}

// callerEnded gives the attempts a moment to return, if done is still that of the context.
func (w *Watcher) callerEnded(done <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done != done {
		return
	}
	w.ended = true
	last := now().add(grace)
	for _, f := range w.flights {
		if f.apart == nil {
			f.giveUp = min(f.giveUp, last)
		}
	}
	heap.Init(&w.flights)
	w.armLocked()
}

// hurry gives one attempt, whose own context has ended, a moment to return.
func (w *Watcher) hurry(f *flight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := now().add(grace); !f.over && !f.gaveUp && last < f.giveUp {
		f.giveUp = last
		heap.Fix(&w.flights, f.place)
		w.armLocked()
	}
}

// Stop ends the watch over the context, and the timer. If attempts are still running it does
// nothing. A later call watches anew.
func (w *Watcher) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.flights) > 0 {
		return
	}
	if w.stop != nil {
		w.stop()
		w.done, w.stop, w.ended = nil, nil, false
	}
	if w.rings != 0 {
		w.timer.Stop()
		w.rings = 0
	}
}

// flights are a heap, of which the first is to be given up first.
type flights []*flight

func (s flights) Len() int           { return len(s) }
func (s flights) Less(i, j int) bool { return s[i].giveUp < s[j].giveUp }

func (s flights) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

// Push implements [heap.Interface].
func (s *flights) Push(f any) {
	last := f.(*flight)
	last.place = len(*s)
	*s = append(*s, last)
}

// Pop implements [heap.Interface].
func (s *flights) Pop() any {
	last := (*s)[len(*s)-1]
	(*s)[len(*s)-1] = nil
	*s = (*s)[:len(*s)-1]
	return last
}
