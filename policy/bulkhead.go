package policy

import (
	"container/list"
	"context"
	"sync"
	"time"
)

type bulkheadSettings struct {
	maxConcurrent int
	maxQueue      int
	queueTimeout  time.Duration // 0: none
	holdAbandoned bool
}

// Bulkhead limits how many attempts run at once; a few more may wait in a queue. Several
// policies may share it. It is safe for concurrent use.
type Bulkhead struct {
	name     string
	settings bulkheadSettings

	mu sync.Mutex
	// All below is guarded by mu.
	running int
	queue   list.List // first come first, of chan struct{}: closed when the attempt has a slot
}

func newBulkhead(name string, s bulkheadSettings) *Bulkhead {
	return &Bulkhead{name: name, settings: s}
}

// Name returns the name under which policies share the bulkhead.
func (b *Bulkhead) Name() string { return b.name }

// Running returns how many slots are taken.
func (b *Bulkhead) Running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running
}

// Queued returns how many attempts wait for a slot.
func (b *Bulkhead) Queued() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queue.Len()
}

// MaxConcurrent returns how many slots there are.
func (b *Bulkhead) MaxConcurrent() int { return b.settings.maxConcurrent }

// MaxQueue returns how many attempts may wait.
func (b *Bulkhead) MaxQueue() int { return b.settings.maxQueue }

// admission is what became of asking a bulkhead for a slot.
type admission int

const (
	admitted     admission = iota // the caller has a slot and must release it
	queued                        // the caller has a place in the queue and must wait there
	refusedFull                   // neither a slot nor a place in the queue
	refusedQueue                  // the queue timeout ran out
	gaveUp                        // the context ended first
)

// enter takes a slot or, if there is none, a place in the queue.
func (b *Bulkhead) enter() (admission, *list.Element) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.running < b.settings.maxConcurrent: // then nobody queues: release hands slots on
		b.running++
		return admitted, nil
	case b.queue.Len() >= b.settings.maxQueue:
		return refusedFull, nil
	default:
		return queued, b.queue.PushBack(make(chan struct{}))
	}
}

// await waits in the queue until the place has become a slot.
func (b *Bulkhead) await(ctx context.Context, place *list.Element) admission {
	var timeUp <-chan time.Time
	if b.settings.queueTimeout > 0 {
		timer := time.NewTimer(b.settings.queueTimeout)
		defer timer.Stop()
		timeUp = timer.C
	}
	select {
	case <-place.Value.(chan struct{}):
		if ctx.Err() != nil {
			return b.leave(place, gaveUp)
		}
		return admitted
	case <-timeUp:
		return b.leave(place, refusedQueue)
	case <-ctx.Done():
		return b.leave(place, gaveUp)
	}
}

// leave takes a waiter out of the queue. One that was given a slot at that very moment hands
// it on.
func (b *Bulkhead) leave(place *list.Element, why admission) admission {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-place.Value.(chan struct{}):
		b.releaseLocked()
	default:
		b.queue.Remove(place)
	}
	return why
}

// release gives a slot back: to the first in the queue, or to whoever comes next.
func (b *Bulkhead) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.releaseLocked()
}

func (b *Bulkhead) releaseLocked() {
	if first := b.queue.Front(); first != nil {
		close(b.queue.Remove(first).(chan struct{}))
		return
	}
	b.running--
}
