package dashboard

import (
	"cmp"
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
	place, _ := slices.BinarySearchFunc(c.last, e, func(a, b policy.Event) int { return cmp.Compare(b.Sequence, a.Sequence) })
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

// why tells why a breaker is in the state that it is in, "" if nobody was told: it was so before anybody watched, or the
// change is still on its way here.
func why(last []policy.Event, stats policy.CircuitBreakerStats) string {
	var told policy.Event
	if len(last) > 0 {
		told = last[0]
	}
	switch {
	case told.To == stats.State && told.Time.Equal(stats.Since):
		return told.Reason
	case stats.State == policy.StateHalfOpen:
		return "the open duration is over: the next call is a probe"
	case stats.State == policy.StateOpen && told.To == policy.StateHalfOpen:
		return "a probe took too long"
	case stats.State == policy.StateOpen && told.To == policy.StateOpen:
		return "tripped again" // which is no change, and nobody is told of it
	default:
		return ""
	}
}
