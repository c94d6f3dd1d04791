package dashboard

import (
	"sync"
	"time"
)

// history is how the calls of a policy have fared lately.
type history struct {
	policy string

	mu   sync.Mutex
	ring ring[column] // guarded by mu
}

// column is what one column of a policy's charts is about.
type column struct {
	calls, failures, fallbacks, retries int

	took durations
}

func newHistory(policy, _ string) *history { return &history{policy: policy} }

func (h *history) called(p period, g got, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.ring.at(p)
	c.calls++
	c.took.add(took)
	switch {
	case g == gotFallback:
		c.fallbacks++
	case g.problem():
		c.failures++
	}
}

func (h *history) retried(p period) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ring.at(p).retries++
}
