package otelresilience

import "github.com/gqlresilience/gqlresilience/policy"

// Why an attempt was rejected.
const (
	circuitOpen      = "circuit-open"
	bulkheadFull     = "bulkhead-full"
	queueTimeout     = "queue-timeout" // of the bulkhead's
	tooManyAbandoned = "too-many-abandoned"
	rateLimited      = "rate-limited"
)

// Whose time was up.
const (
	attemptTimeout = "attempt"
	totalTimeout   = "total"
	budgetTimeout  = "operation-budget"
)

// What became of asking a fallback.
const (
	fallbackAnswered = "answered"
	fallbackFailed   = "failed"
)

// rejection is why the event's attempt was rejected.
func rejection(e policy.Event) string {
	switch {
	case e.Kind == policy.EventCircuitRejected:
		return circuitOpen
	case e.Kind == policy.EventRateLimited:
		return rateLimited
	case e.Gate == "":
		return tooManyAbandoned
	case e.Reason != "":
		return queueTimeout
	default:
		return bulkheadFull
	}
}

// timeout is whose time was up.
func timeout(e policy.Event) string {
	switch e.Reason {
	case "":
		return attemptTimeout
	case "total":
		return totalTimeout
	default:
		return budgetTimeout
	}
}

// fallback is what became of asking it.
func fallback(e policy.Event) string {
	if e.Reason != "" {
		return fallbackFailed
	}
	return fallbackAnswered
}
