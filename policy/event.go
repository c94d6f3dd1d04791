package policy

import "time"

// EventKind says what happened.
type EventKind string

// The kinds of [Event], and the fields that each sets beyond Kind, Time, Policy and Source.
const (
	EventRetry            EventKind = "retry"             // Attempt that failed, Delay until the next, Err
	EventTimeout          EventKind = "timeout"           // Attempt, Timeout, Reason: "total" or "operation budget" where it is not the attempt's, Err
	EventCircuitOpen      EventKind = "circuit-open"      // Gate, From, To, Reason, Sequence
	EventCircuitHalfOpen  EventKind = "circuit-half-open" // Gate, From, To, Reason, Sequence
	EventCircuitClosed    EventKind = "circuit-closed"    // Gate, From, To, Reason, Sequence
	EventCircuitRejected  EventKind = "circuit-rejected"  // Gate, Attempt, RetryAfter, Err
	EventBulkheadRejected EventKind = "bulkhead-rejected" // Gate, Attempt, Reason, Running, Queued, Err
	EventRateLimited      EventKind = "rate-limited"      // Gate, Attempt, RetryAfter, Err
	EventFallback         EventKind = "fallback"          // Err, Reason: "failed" where the fallback had an error and no answer
	EventAbandoned        EventKind = "abandoned"         // Attempt, Timeout, Running: the policy's abandoned attempts

	// The end of every attempt and call, for metrics. Only those are told of them who ask for them.
	EventAttempt EventKind = "attempt" // Attempt, Duration, Outcome, Err
	EventCall    EventKind = "call"    // Attempt: how many were made, Duration with all waits, Outcome, Err: what was returned, or what the fallback has answered for
)

// Outcome is what an attempt or a call came to.
type Outcome string

// The outcomes. That of an abandoned attempt is a timeout, or cancelled: nobody waits for another.
const (
	OutcomeSuccess     Outcome = "success"
	OutcomeFailure     Outcome = "failure" // panics included
	OutcomeTimeout     Outcome = "timeout"
	OutcomeRejected    Outcome = "rejected"     // by a gate of this or another policy
	OutcomeClientError Outcome = "client-error" // the caller's fault
	OutcomeCancelled   Outcome = "cancelled"    // the caller has gone
	OutcomeFallback    Outcome = "fallback"     // of a call: the fallback has answered
)

// Event is something that a policy did. What a kind does not set is zero.
type Event struct {
	Kind   EventKind
	Time   time.Time // when it took effect
	Policy string    // the policy's name; empty for a breaker's Trip and Reset
	Source string    // what ran: "Query.shippingQuotes", or what WithSource said
	Gate   string    // the name of the breaker, bulkhead or limiter

	// Attempt counts from 1. Of one that was rejected, or out of time before it began, it is the
	// number that it would have had.
	Attempt int

	Delay      time.Duration // until the next attempt
	Duration   time.Duration // of the attempt or call
	Outcome    Outcome       // likewise
	Timeout    time.Duration // the limit that ran out
	From, To   State
	Reason     string
	Running    int
	Queued     int
	RetryAfter time.Duration
	Err        error

	// Sequence numbers the transitions of one breaker from 1. Subscribers run outside the
	// breaker's lock, so two transitions may reach them in the other order.
	Sequence uint64
}
