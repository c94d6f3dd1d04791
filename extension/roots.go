package extension

import (
	"context"
	"sync"
	"time"
)

// roots watch over those of the attempts in a scope: one timer, and one watch over the context that
// they are made within, serve all. Both for each would cost more than all else about a derived
// context. The zero value is ready.
type roots struct {
	mu sync.Mutex
	// All below is guarded by mu, under which nothing is asked of a caller: it may be an attempt that
	// is about to be watched.
	running rootList // of attempts that have not returned
	over    rootList // of those that have, in time
	ended   bool     // the scope has

	timer *time.Timer
	rings time.Time       // when timer does; zero: it does not
	done  <-chan struct{} // of the context that is watched; nil: there was none so far
	stop  func() bool     // ends the watch over it; nil: there is none
}

// watch makes the root of an attempt that is running end with the attempt's time or its caller.
func (s *roots) watch(r *root) {
	r.roots, r.deadline = s, r.attempt.timeLimitLocked()
	caller := r.attempt.Caller()
	done := caller.Done()
	s.mu.Lock()
	first := s.done == nil
	if first {
		s.done = done
	}
	shared := s.done == done
	s.running.add(r)
	if !r.deadline.IsZero() {
		s.armLocked(r.deadline)
	}
	s.mu.Unlock()
	switch {
	case done == nil:
	case first:
		stop := context.AfterFunc(caller, s.callerEnded)
		s.mu.Lock()
		s.stop = stop // before the attempt returns
		s.mu.Unlock()
	case !shared:
		r.apart = context.AfterFunc(caller, r.attempt.catchUp)
	}
}

// keep makes the root of an attempt that is over end with the scope or its caller. It reports false if
// the scope has ended.
func (s *roots) keep(r *root) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.removeLocked()
	if s.ended {
		return false
	}
	s.over.add(r)
	return true
}

// forget is told of a root that has ended.
func (s *roots) forget(r *root) {
	s.mu.Lock()
	r.removeLocked()
	stop := s.idleLocked()
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// end releases the attempts that are over.
func (s *roots) end() {
	s.mu.Lock()
	s.ended = true
	stop := s.idleLocked()
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
	for r := s.takeOver(); r != nil; r = s.takeOver() {
		r.attempt.release()
	}
}

func (s *roots) takeOver() *root {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.over.first
	if r != nil {
		r.removeLocked()
	}
	return r
}

// idleLocked stops the timer once the scope has ended and none of its attempts is running, and returns
// what ends the watch over the caller then, nil before or if there is none.
func (s *roots) idleLocked() (stop func() bool) {
	if !s.ended || s.running.first != nil {
		return nil
	}
	if !s.rings.IsZero() {
		s.timer.Stop()
		s.rings = time.Time{}
	}
	stop, s.stop, s.done = s.stop, nil, nil
	return stop
}

// armLocked makes the timer ring at that time, if it does not before.
func (s *roots) armLocked(at time.Time) {
	if !s.rings.IsZero() && !at.Before(s.rings) {
		return // and then it is armed again
	}
	s.rings = at
	if left := time.Until(at); s.timer == nil {
		s.timer = time.AfterFunc(left, s.ring)
	} else {
		s.timer.Reset(left)
	}
}

// ring ends the roots of the attempts whose time is up.
func (s *roots) ring() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next time.Time
	now := time.Now()
	for r := s.running.first; r != nil; r = r.next {
		switch {
		case r.deadline.IsZero():
		case !now.Before(r.deadline):
			go r.attempt.catchUp() // each for itself: it asks the caller's context, which may be anybody's
		case next.IsZero() || r.deadline.Before(next):
			next = r.deadline
		}
	}
	if s.rings = (time.Time{}); !next.IsZero() {
		s.armLocked(next)
	}
}

// callerEnded ends the roots of the attempts that the watched context was the caller's of.
func (s *roots) callerEnded() {
	for _, a := range s.attempts() {
		a.catchUp()
	}
}

func (s *roots) attempts() (attempts []*attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range [...]rootList{s.running, s.over} {
		for r := list.first; r != nil; r = r.next {
			attempts = append(attempts, r.attempt)
		}
	}
	return attempts
}

// rootList is a list of roots, in no order.
type rootList struct{ first *root }

func (l *rootList) add(r *root) {
	if r.next = l.first; r.next != nil {
		r.next.previous = r
	}
	l.first, r.in = r, l
}

// removeLocked removes the root from the list that it is in, if any.
func (r *root) removeLocked() {
	if r.in == nil {
		return
	}
	if r.next != nil {
		r.next.previous = r.previous
	}
	if r.previous != nil {
		r.previous.next = r.next
	} else {
		r.in.first = r.next
	}
	r.in, r.next, r.previous = nil, nil, nil
}
