package dashboard

import (
	"slices"
	"sync"

	"github.com/gqlresilience/gqlresilience/policy"
)

// changesKept is how many changes of each breaker are shown.
const changesKept = 10

// changes are those of a breaker's state.
type changes struct {
	mu   sync.Mutex
	last []policy.Event // the latest first; guarded by mu
}

func newChanges(string, string) *changes { return &changes{} }

// add takes a change. Two may come in the other order than they were made in.
func (c *changes) add(e policy.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, _ := slices.BinarySearchFunc(c.last, e, func(a, b policy.Event) int {
		return int(b.Sequence) - int(a.Sequence)
	})
	c.last = slices.Insert(c.last, place, e)
	c.last = c.last[:min(len(c.last), changesKept)]
}

func (c *changes) all() []policy.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.last)
}

// why tells why a breaker is in the state that it is in, "" if that was so before anybody watched.
func why(last []policy.Event, stats policy.CircuitBreakerStats) string {
	switch {
	case len(last) > 0 && last[0].To == stats.State:
		return last[0].Reason
	case stats.State == policy.StateHalfOpen:
		return "the open duration is over: the next call is a probe"
	case stats.State == policy.StateOpen && len(last) > 0:
		return "a probe took too long"
	default:
		return ""
	}
}
