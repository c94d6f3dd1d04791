package policy

import (
	"context"
	"sync"
	"time"
)

const (
	// grace is how long an attempt that was cancelled may take to return before it is abandoned.
	grace = 10 * time.Millisecond

	// pause is between two looks for attempts to give up, so that thousands that end one after the
	// other are not looked through for each.
	pause = time.Millisecond
)

// Watcher gives attempts up that run on after their time. One serves all calls that are made within
// one context, such as that of an operation: a timer and a watch over the context of their
// own for each attempt would cost more than the attempt's goroutine. The zero value is
// ready. It is safe for concurrent use, and must not be copied.
type Watcher struct {
	// mu is held while package context begins and ends the watch over the caller's context, which is asked
	// for Done and values then. That may be an outer attempt, with locks of its own, so mu is never
	// waited for under those: AfterFunc tells of an end on a goroutine of its own.
	mu sync.Mutex
	// All below is guarded by mu.
	first   *flight // of a list, in no order
	stopped bool    // it rests whenever the list is empty
	timer   *time.Timer
	rings   instant         // when timer does; 0: it does not
	done    <-chan struct{} // of the context that calls are made within; nil: there was none so far
	ended   bool            // that context has
	stop    func() bool     // ends the watch over it
}

// watch makes f be given up a moment after its time is up, or its caller's context has ended.
func (w *Watcher) watch(f *flight, caller context.Context, deadline instant) {
	f.giveUp = deadline.add(grace)
	done := caller.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case done == nil:
	case w.done == nil:
		f.within = true
		w.done, w.stop = done, context.AfterFunc(caller, func() { w.callerEnded(done) })
	case w.done != done:
		f.apart = context.AfterFunc(caller, func() { w.hurry(f) })
	default:
		f.within = true
		if w.ended {
			f.giveUp = min(f.giveUp, now().add(grace))
		}
	}
	w.insertLocked(f)
	w.armLocked(f.giveUp)
}

func (w *Watcher) insertLocked(f *flight) {
	if f.next = w.first; f.next != nil {
		f.next.previous = f
	}
	w.first = f
}

func (w *Watcher) removeLocked(f *flight) {
	if f.next != nil {
		f.next.previous = f.previous
	}
	if f.previous != nil {
		f.previous.next = f.next
	} else {
		w.first = f.next
	}
	f.next, f.previous = nil, nil
	if w.stopped && w.first == nil {
		w.restLocked()
	}
}

// armLocked makes the timer ring at that time, if it does not before.
func (w *Watcher) armLocked(at instant) {
	if w.rings != 0 && w.rings <= at {
		return // and then it is armed again
	}
	w.rings = at
	if left := at.since(now()); w.timer == nil {
		w.timer = time.AfterFunc(left, w.ring)
	} else {
		w.timer.Reset(left)
	}
}

// ring gives up the attempts whose time is up.
func (w *Watcher) ring() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rings = 0
	at, next := now(), instant(0)
	for f := w.first; f != nil; {
		watched := f
		f = f.next
		switch {
		case watched.giveUp <= at:
			w.removeLocked(watched)
			watched.gaveUp = true
			watched.landed.Done()
		case next == 0 || watched.giveUp < next:
			next = watched.giveUp
		}
	}
	if next != 0 {
		w.armLocked(max(next, at.add(pause)))
	}
}

// land takes note that the attempt has returned.
func (w *Watcher) land(f *flight) {
	w.mu.Lock()
	f.over = true
	gaveUp, afterward := f.gaveUp, f.afterward
	if !gaveUp {
		w.removeLocked(f)
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
		a.landed()
		ofPolicy.done()
		ofRegistry.done()
	}
	return true
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
	for f := w.first; f != nil; f = f.next {
		if f.within {
			f.giveUp = min(f.giveUp, last)
			w.armLocked(f.giveUp)
		}
	}
}

// hurry gives one attempt, whose own context has ended, a moment to return.
func (w *Watcher) hurry(f *flight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !f.over && !f.gaveUp {
		f.giveUp = min(f.giveUp, now().add(grace))
		w.armLocked(f.giveUp)
	}
}

// Stop ends the watch over the context, and the timer, once no attempt is running. A later call watches
// anew, for as long as it runs.
func (w *Watcher) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.first == nil {
		w.restLocked()
	}
}

// restLocked ends what the watcher costs while there is nothing to watch.
func (w *Watcher) restLocked() {
	if w.stop != nil {
		w.stop()
		w.done, w.stop, w.ended = nil, nil, false
	}
	if w.rings != 0 {
		w.timer.Stop()
		w.rings = 0
	}
}
