package policy

import "fmt"

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
