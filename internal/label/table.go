package label

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Table has a value for each of the first so many pairs of a policy and a field. Further fields of a
// policy that has one share another, and those of further policies one more. It is safe
// for concurrent use.
type Table[V any] struct {
	limit int
	make  func(policy, field string) V

	all atomic.Pointer[map[pair]V] // which is never changed, but replaced

	mu    sync.Mutex      // serialises changes of all
	apart int             // how many pairs are told apart; guarded by mu
	known map[string]bool // their policies; guarded by mu
}

type pair struct{ policy, field string }

// NewTable returns a table of limit pairs, at least 1, whose values make makes when they are needed:
// from names that are [Printable], or [Other]. It must not use the table.
func NewTable[V any](limit int, make func(policy, field string) V) *Table[V] {
	t := &Table[V]{limit: limit, make: make, known: map[string]bool{}}
	t.all.Store(&map[pair]V{})
	return t
}

// Of returns the value of the pair, or that which it shares with others.
func (t *Table[V]) Of(policy, field string) V {
	p := pair{Printable(policy), Printable(field)}
	if v, ok := (*t.all.Load())[p]; ok {
		return v
	}
	return t.add(p)
}

// All returns the values there are, in no order.
func (t *Table[V]) All() []V { return slices.Collect(maps.Values(*t.all.Load())) }

// add returns the value of a pair that has, as it seems, none of its own.
func (t *Table[V]) add(p pair) V {
	t.mu.Lock()
	defer t.mu.Unlock()
	p = t.shownLocked(p)
	all := *t.all.Load()
	if v, ok := all[p]; ok {
		return v
	}
	v := t.make(p.policy, p.field)
	all = maps.Clone(all)
	all[p] = v
	t.all.Store(&all)
	return v
}

// shownLocked is what a pair is called.
func (t *Table[V]) shownLocked(p pair) pair {
	_, ok := (*t.all.Load())[p]
	switch {
	case ok:
		return p
	case t.apart < t.limit:
		t.apart++
		t.known[p.policy] = true
		return p
	case t.known[p.policy]:
		return pair{p.policy, Other}
	default:
		return pair{Other, Other}
	}
}
