package policy

import (
	"fmt"
	"time"
)

// State is that of a circuit breaker.
type State int

const (
	StateClosed   State = iota // calls pass and are counted
	StateOpen                  // calls are rejected
	StateHalfOpen              // a few calls pass as probes
)

// String returns "closed", "open" or "half-open".
func (s State) String() string {
	switch s {
	case StateClosed:
		return "closed"
	case StateOpen:
		return "open"
	case StateHalfOpen:
		return "half-open"
	default:
		return fmt.Sprintf("State(%d)", int(s))
	}
}

// CircuitBreakerStats is what [CircuitBreaker.Stats] tells.
type CircuitBreakerStats struct {
	State           State
	Since           time.Time     // when that state began
	Calls, Failures int           // in the window; an open breaker shows the window that opened it
	Probes          int           // running
	RetryAfter      time.Duration // until an open breaker lets a probe pass; otherwise 0
}

func transitionKind(to State) EventKind {
	switch to {
	case StateOpen:
		return EventCircuitOpen
	case StateHalfOpen:
		return EventCircuitHalfOpen
	default:
		return EventCircuitClosed
	}
}
