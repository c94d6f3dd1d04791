package dashboard

import (
	"slices"
	"sync"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

// changesKept is how many changes of each breaker are shown.
const changesKept = 10

// changes are those of a breaker's state. The zero value is ready.
type changes struct {
	mu sync.Mutex
	// All below is guarded by mu.
	last   []policy.Event // the latest first
	outage outage         // the last one
}

// outage is the time from when a closed breaker opens until it is closed again, with all probes that fail in between.
type outage struct {
	began, ended time.Time // zero: there was none, and it goes on
	reason       string    // why it began
	sequence     uint64    // of the change that began it
}

// add takes a change. Two may come in the other order than they were made in.
func (c *changes) add(e policy.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, _ := slices.BinarySearchFunc(c.last, e, func(a, b policy.Event) int {
		return int(b.Sequence) - int(a.Sequence)
	})
	c.last = slices.Insert(c.last, place, e)
	c.settleLocked()
	c.last = c.last[:min(len(c.last), changesKept)]
}

// settleLocked finds out what the changes make of the outage, which may have begun before the oldest of them.
func (c *changes) settleLocked() {
	for _, e := range slices.Backward(c.last) {
		switch {
		case e.From == policy.StateClosed && e.Sequence > c.outage.sequence:
			c.outage = outage{began: e.Time, reason: e.Reason, sequence: e.Sequence}
		case e.To == policy.StateClosed && e.Sequence > c.outage.sequence:
			c.outage.ended = e.Time
		}
	}
}

func (c *changes) all() ([]policy.Event, outage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.last), c.outage
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
