package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// unhurried is a tally that tells whether its breaker's calls have to wait for its parts.
type unhurried struct {
	tally
	breaker *CircuitBreaker
	waited  *bool
}

func (u unhurried) copy() tally { return unhurried{u.tally.copy(), u.breaker, u.waited} }

func (u unhurried) parts(now time.Time, most int) []WindowPart {
	if *u.waited = !u.breaker.mu.TryLock(); !*u.waited {
		u.breaker.mu.Unlock()
	}
	return u.tally.parts(now, most)
}

func TestCallsDoNotWaitForWhoeverLooksAtTheWindow(t *testing.T) {
	b := newCircuitBreaker("carrier", breakerSettings{CircuitBreakerSettings: CircuitBreakerSettings{Window: *CountWindow(4)}}, &bus{})
	var waited bool
	b.window = unhurried{b.window, b, &waited}
	b.window.record(time.Now(), true)
	assert.Equal(t, []WindowPart{{1, 1}}, b.Window(60))
	assert.False(t, waited)
}

func TestACopyOfAWindowKeepsWhatWasInIt(t *testing.T) {
	now := time.Now()
	for _, w := range []*Window{CountWindow(2), TimeWindow(time.Minute)} {
		original := newTally(*w)
		original.record(now, true)
		taken := original.copy()
		original.record(now, false)
		original.record(now, false)
		calls, failures := taken.count(now)
		assert.Equal(t, []int{1, 1}, []int{calls, failures})
		parts := taken.parts(now, 10)
		assert.Equal(t, WindowPart{1, 1}, parts[len(parts)-1], "%v", w)
	}
}
