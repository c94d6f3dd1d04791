package policy

import (
	"fmt"
	"time"
)

// CircuitBreakerStats is what [CircuitBreaker.Stats] tells.
type CircuitBreakerStats struct {
	State           State
	Since           time.Time     // when that state began
	Calls, Failures int           // in the window; an open breaker shows the window that opened it
	Probes          int           // running
	RetryAfter      time.Duration // until an open breaker lets a probe pass; otherwise 0
}

// CircuitBreakerSettings is what [CircuitBreaker.Settings] tells: the settings of a [CircuitBreakerSpec],
// each with its value, but for the RecordIf.
type CircuitBreakerSettings struct {
	FailureRate      int // in percent
	MinimumCalls     int
	Window           Window
	OpenDuration     time.Duration
	HalfOpenMaxCalls int
	HalfOpenMaxWait  time.Duration
}

// WindowPart is a part of a breaker's window: some calls that follow each other or, of a window of time, those of a
// stretch of it.
type WindowPart struct{ Calls, Failures int }

// Name returns the name under which policies share the breaker.
func (b *CircuitBreaker) Name() string { return b.name }

// State returns the state as of now. An open breaker whose time is over reads half-open even
// before the first probe.
func (b *CircuitBreaker) State() State { return b.Stats().State }

// Stats returns the breaker's state and window as of now.
func (b *CircuitBreaker) Stats() CircuitBreakerStats { return b.statsAt(time.Now()) }

func (b *CircuitBreaker) statsAt(now time.Time) CircuitBreakerStats {
	b.mu.Lock()
	defer b.mu.Unlock()
	state, since := b.stateAtLocked(now)
	stats := CircuitBreakerStats{State: state, Since: since}
	stats.Calls, stats.Failures = b.window.count(now)
	if state == StateOpen {
		stats.RetryAfter = since.Add(b.settings.OpenDuration).Sub(now)
	}
	if state == b.state && since.Equal(b.since) {
		stats.Probes = len(b.probes)
	}
	return stats
}

// Settings returns how the breaker is set.
func (b *CircuitBreaker) Settings() CircuitBreakerSettings { return b.settings.CircuitBreakerSettings }

// Window returns what the breaker's window holds as of now, oldest first, in no more than so many parts; it panics if that
// is less than 1. Of a window of calls each call is a part, of one of time each tenth, of which the last is not over;
// where these are too many, neighbours are put together. A window without a call has no parts. An open breaker shows
// the calls that opened it, as does a half-open one; of a window of time only those that are not too old.
func (b *CircuitBreaker) Window(parts int) []WindowPart { return b.windowAt(time.Now(), parts) }

func (b *CircuitBreaker) windowAt(now time.Time, parts int) []WindowPart {
	if parts < 1 {
		panic(fmt.Sprintf("policy: CircuitBreaker.Window: %d parts: must be at least 1", parts))
	}
	return b.windowCopy().parts(now, parts) // which takes long for a window of many calls, and calls must not wait
}

func (b *CircuitBreaker) windowCopy() tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.window.copy()
}
