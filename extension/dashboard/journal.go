package dashboard

import (
	"container/list"
	"sync"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

const (
	// journalLength is how many events are shown.
	journalLength = 100
	// together is how long after an event another one like it is told with it, so that a thousand rejections
	// leave room for what explains them.
	together = 10 * time.Second
)

// journal has the last events, like ones together, of changes of state some more.
type journal struct {
	mu sync.Mutex
	// All below is guarded by mu.
	entries list.List // of *entry, the latest first
	latest  map[likeness]*list.Element
	changes int // of state, how many of the entries are
}

// likeness is what events have in common that are told together.
type likeness struct {
	kind                policy.EventKind
	policy, field, gate string
	from, to            policy.State
	reason, error       string
	sequence            uint64 // changes of state are each told by themselves
}

// change reports whether the event is a change of a breaker's state.
func (l *likeness) change() bool { return l.from != l.to }

type entry struct {
	likeness
	first, last time.Time
	count       int
	attempt     int // of the last one
}

func newJournal() *journal { return &journal{latest: map[likeness]*list.Element{}} }

func (j *journal) add(like likeness, at time.Time, attempt int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.latest[like]; ok {
		e := known.Value.(*entry)
		if at.Sub(e.last) <= together {
			e.count++
			if !at.Before(e.last) { // it may have been held up on its way here
				e.last, e.attempt = at, attempt
				j.entries.MoveToFront(known)
			}
			return
		}
	}
	j.latest[like] = j.entries.PushFront(&entry{likeness: like, first: at, last: at, count: 1, attempt: attempt})
	if like.change() {
		j.changes++
	}
	if j.entries.Len() > journalLength {
		j.dropLocked()
	}
}

// dropLocked drops the oldest entry, but a change of state only if more than half of all are: what a hundred fields
// meet because of one must not push it out.
func (j *journal) dropLocked() {
	oldest := j.entries.Back()
	for j.changes <= journalLength/2 && oldest.Value.(*entry).change() {
		oldest = oldest.Prev()
	}
	e := j.entries.Remove(oldest).(*entry)
	if e.change() {
		j.changes--
	}
	if j.latest[e.likeness] == oldest {
		delete(j.latest, e.likeness)
	}
}

// all returns the entries, the latest first.
func (j *journal) all() []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]entry, 0, j.entries.Len())
	for e := j.entries.Front(); e != nil; e = e.Next() {
		all = append(all, *e.Value.(*entry))
	}
	return all
}
