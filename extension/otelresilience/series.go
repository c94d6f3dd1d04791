package otelresilience

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gqlresilience/gqlresilience/policy"
)

// pair is a policy and a field that it runs.
type pair struct{ policy, field string }

// series are the labels of a pair.
type series struct {
	plain      labels
	outcomes   map[policy.Outcome]labels
	timeouts   map[string]labels // by reason
	rejections map[string]labels // by reason
	fallbacks  map[string]labels // by outcome
}

func newSeries(p pair) *series {
	base := identity(p.policy, p.field)
	return &series{
		plain: labelled(base...),
		outcomes: labelledEach(base, outcomeKey,
			policy.OutcomeSuccess, policy.OutcomeFailure, policy.OutcomeTimeout, policy.OutcomeRejected,
			policy.OutcomeClientError, policy.OutcomeCancelled, policy.OutcomeFallback),
		timeouts: labelledEach(base, reasonKey, attemptTimeout, totalTimeout, budgetTimeout),
		rejections: labelledEach(base, reasonKey,
			circuitOpen, bulkheadFull, queueTimeout, tooManyAbandoned, rateLimited),
		fallbacks: labelledEach(base, outcomeKey, fallbackAnswered, fallbackFailed),
	}
}

// table has the series of the first so many pairs. Further fields of a policy that has one share
// another, and those of further policies one more.
type table struct {
	limit int

	all atomic.Pointer[map[pair]*series] // of which none is changed any more

	mu    sync.Mutex      // serialises changes of all
	apart int             // how many pairs are told apart; guarded by mu
	known map[string]bool // their policies; guarded by mu
}

func newTable(limit int) *table {
	t := &table{limit: limit, known: map[string]bool{}}
	t.all.Store(&map[pair]*series{})
	return t
}

func (t *table) of(policy, field string) *series {
	p := pair{printable(policy), printable(field)}
	if s, ok := (*t.all.Load())[p]; ok {
		return s
	}
	return t.add(p)
}

// add returns the series of a pair that has, as it seems, none of its own.
func (t *table) add(p pair) *series {
	t.mu.Lock()
	defer t.mu.Unlock()
	p = t.shownLocked(p)
	all := *t.all.Load()
	if s, ok := all[p]; ok {
		return s
	}
	s := newSeries(p)
	all = maps.Clone(all)
	all[p] = s
	t.all.Store(&all)
	return s
}

// shownLocked is what a pair is called.
func (t *table) shownLocked(p pair) pair {
	_, ok := (*t.all.Load())[p]
	switch {
	case ok:
		return p
	case t.apart < t.limit:
		p = pair{strings.Clone(p.policy), strings.Clone(p.field)} // which may be the starts of long ones
		t.apart++
		t.known[p.policy] = true
		return p
	case t.known[p.policy]:
		return pair{p.policy, other}
	default:
		return pair{other, other}
	}
}
