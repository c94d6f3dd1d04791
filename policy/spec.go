package policy

import (
	"context"
	"fmt"
	"time"
)

// Config is what a [Registry] is made from.
type Config struct {
	// Defaults fills settings of stages that a preset, a directive or Go code turned on. It
	// never turns a stage on, so a stage's Enabled or Name, or a fallback, is an error here.
	Defaults Spec

	// Presets are the named policies that directives, fields and jobs refer to. A preset
	// must turn on at least one stage.
	Presets map[string]Spec

	// IsClientError reports that an error was the caller's fault: it is not retried, no
	// breaker counts it and by default no fallback hides it. It is asked about an error and
	// about each that it wraps, and adds to what [AsClientError] and 4xx statuses say. nil:
	// nothing more. It must be safe for concurrent use.
	IsClientError func(error) bool
}

// Spec says which stages a policy has and how they are set. It is sparse: a nil stage or
// setting is inherited from the next layer (see [Registry.Compose]), and a non-nil stage, even
// an empty one, is on unless it says Enabled: new(false).
type Spec struct {
	Timeout        *TimeoutSpec
	Retry          *RetrySpec
	CircuitBreaker *CircuitBreakerSpec
	Bulkhead       *BulkheadSpec
	RateLimit      *RateLimitSpec
	Fallback       *FallbackSpec
}

// TimeoutMode says what happens to an attempt that is still running when its time is up.
type TimeoutMode int

const (
	// Cooperative cancels the attempt's context and waits for the attempt to return. There
	// is no extra goroutine; a function that ignores its context is waited for.
	Cooperative TimeoutMode = iota + 1

	// Enforced runs the attempt on a goroutine of its own and abandons it when it has not
	// returned within 10 ms of being cancelled. The abandoned function runs on; what it
	// returns, and a panic in it, is dropped.
	Enforced
)

// String returns "Cooperative" or "Enforced".
func (m TimeoutMode) String() string {
	switch m {
	case Cooperative:
		return "Cooperative"
	case Enforced:
		return "Enforced"
	default:
		return fmt.Sprintf("TimeoutMode(%d)", int(m))
	}
}

// TimeoutSpec limits how long attempts and the whole run may take. At least one of Duration
// and Total must be set somewhere.
type TimeoutSpec struct {
	// Enabled turns the stage off when it points at false. True and nil say nothing more than
	// that the stage is mentioned.
	Enabled *bool

	// Duration limits each attempt. It starts when the attempt does, after all waiting for
	// a bulkhead slot or a rate limit. No default; must be positive.
	Duration *time.Duration

	// Total limits all attempts and waits together. It does not limit the fallback. No
	// default; must be positive.
	Total *time.Duration

	// Mode defaults to Enforced for query and subscription fields, and to Cooperative for
	// [Execute] (an abandoned closure would go on writing the variables it captured) and for
	// root fields of mutations.
	Mode *TimeoutMode

	// MaxAbandoned is how many abandoned attempts of the policy may be running before
	// further attempts are refused with [ErrBulkheadFull]. Default 1,000; at least 1.
	MaxAbandoned *int
}

// Unlimited, as RetrySpec.Attempts, retries until the context ends.
const Unlimited = -1

// RetrySpec runs a failed attempt again. Only failures of the function and its timeouts are
// retried; a rejection, a cancelled caller and a client's error are not.
type RetrySpec struct {
	// Enabled turns the stage off when it points at false. True and nil say nothing more than
	// that the stage is mentioned.
	Enabled *bool

	// Attempts counts all attempts, the first included. Default 3; at least 1, or [Unlimited].
	Attempts *int

	// Backoff says how long to wait before the next attempt.
	Backoff *BackoffSpec

	// RetryIf, when set, decides in place of the built-in classification whether the error
	// of attempt (from 1) is worth another one. It is not asked about a cancelled caller, a
	// rejection or a panic, which are never retried.
	RetryIf func(err error, attempt int) bool
}

// Jitter says how a wait between attempts is spread, so that callers that failed together do
// not come back together. The three are those of "Exponential Backoff And Jitter", Marc
// Brooker, AWS Architecture Blog, 2015.
type Jitter int

const (
	// JitterFull waits a random time between zero and the computed delay.
	JitterFull Jitter = iota + 1

	// JitterEqual waits half the computed delay, and a random time up to the other half.
	JitterEqual

	// JitterNone waits exactly the computed delay.
	JitterNone
)

// String returns "JitterFull", "JitterEqual" or "JitterNone".
func (j Jitter) String() string {
	switch j {
	case JitterFull:
		return "JitterFull"
	case JitterEqual:
		return "JitterEqual"
	case JitterNone:
		return "JitterNone"
	default:
		return fmt.Sprintf("Jitter(%d)", int(j))
	}
}

// BackoffSpec sets the wait between attempts: Delay × Factor^(attempt−1), at most MaxDelay,
// then jitter. A Retry-After that the error carries is a floor under the wait, and one above
// MaxDelay ends the retrying.
type BackoffSpec struct {
	// Delay is the wait after the first attempt, before jitter. Default 200ms; zero is allowed.
	Delay *time.Duration

	// Factor multiplies the delay after each attempt. Default 2; at least 1.
	Factor *float64

	// MaxDelay caps each wait. Default 30s; must be positive.
	MaxDelay *time.Duration

	// Jitter defaults to [JitterFull], and to [JitterNone] when Factor is 1.
	Jitter *Jitter

	// Func, when set, computes the wait after attempt (from 1) in place of Delay, Factor and
	// Jitter. Its result is brought into the range from zero to MaxDelay. If one
	// layer sets Func and an earlier one sets Delay, Factor or Jitter, the earlier one wins.
	Func func(attempt int, err error) time.Duration
}

// Window is the stretch of recent calls whose failures a breaker counts: the last Calls
// calls, or the calls of the last Duration. Make it with [CountWindow] or [TimeWindow].
type Window struct {
	Calls    int           // of a count window
	Duration time.Duration // of a time window
}

// CountWindow is a window over the last n calls.
func CountWindow(n int) *Window { return &Window{Calls: n} }

// TimeWindow is a window over the calls of the last d. It is kept in ten buckets, so it
// forgets in steps of d/10.
func TimeWindow(d time.Duration) *Window { return &Window{Duration: d} }

// String describes the window as messages do.
func (w *Window) String() string {
	switch {
	case w.Calls != 0 && w.Duration != 0:
		return fmt.Sprintf("the last %d calls and the last %v", w.Calls, w.Duration)
	case w.Duration != 0:
		return fmt.Sprintf("the last %v", w.Duration)
	default:
		return fmt.Sprintf("the last %d calls", w.Calls)
	}
}

// CircuitBreakerSpec stops calls to a dependency that mostly fails.
type CircuitBreakerSpec struct {
	// Enabled turns the stage off when it points at false. True and nil say nothing more than
	// that the stage is mentioned.
	Enabled *bool

	// Name says which breaker to use. Default: the preset's name or, where a field's own
	// spec changes a setting, "Type.field". A name is configured in one place; elsewhere it
	// may only be named.
	Name *string

	// FailureRate is the percentage of failures in the window that opens the breaker.
	// Default 50; from 1 to 100.
	FailureRate *int

	// MinimumCalls is how many calls the window must hold before the rate counts. Default
	// 10; at least 1, and no more than a count window holds.
	MinimumCalls *int

	// Window defaults to CountWindow(20).
	Window *Window

	// OpenDuration is how long an open breaker rejects before it lets probes pass. Default
	// 30s; must be positive.
	OpenDuration *time.Duration

	// HalfOpenMaxCalls is how many probes may run at once when the breaker is half-open, and
	// how many must succeed to close it. Default 1; at least 1.
	HalfOpenMaxCalls *int

	// HalfOpenMaxWait is how long a probe may run before it counts as failed. Default: the
	// OpenDuration; must be positive.
	HalfOpenMaxWait *time.Duration

	// RecordIf, when set, decides in place of the built-in classification whether an error
	// is a failure; false means it is ignored, neither success nor failure. It is not asked
	// about a cancelled caller or a rejection, which are ignored, or a panic, which counts.
	//
	// Settings that differ for one breaker are an error, but functions cannot be compared:
	// those made by the same function literal count as the same, whatever variables they
	// captured, and the breaker keeps the first.
	RecordIf func(error) bool
}

// BulkheadSpec limits how many attempts run at once.
type BulkheadSpec struct {
	// Enabled turns the stage off when it points at false. True and nil say nothing more than
	// that the stage is mentioned.
	Enabled *bool

	// Name says which bulkhead to use, as CircuitBreakerSpec.Name does.
	Name *string

	// MaxConcurrent is how many attempts may run at once. Default 10; at least 1.
	MaxConcurrent *int

	// MaxQueue is how many more may wait, first in, first out. Default 0.
	MaxQueue *int

	// QueueTimeout limits the time in the queue. Default: none, so that only the context and
	// the policy's total timeout do; must be positive. It has no use while MaxQueue is 0.
	QueueTimeout *time.Duration

	// HoldAbandoned keeps the slot of an abandoned attempt taken until its work ends.
	// Default false: abandoning frees the slot.
	HoldAbandoned *bool
}

// RateLimitSpec limits how often the dependency is called: a token bucket that starts full.
type RateLimitSpec struct {
	// Enabled turns the stage off when it points at false. True and nil say nothing more than
	// that the stage is mentioned.
	Enabled *bool

	// Name says which limiter to use, as CircuitBreakerSpec.Name does.
	Name *string

	// Limit is how many calls per Interval are let through on average. Required; at least 1.
	Limit *int

	// Interval is the time that Limit refers to. Required; must be positive.
	Interval *time.Duration

	// Burst is how many calls may pass back to back. Default: Limit; at least 1, and 1
	// spaces the calls evenly. No interval sees more than Limit + Burst calls.
	Burst *int

	// MaxWait is how long a call may wait for its turn. Default 0: reject at once.
	MaxWait *time.Duration
}

// FallbackSpec answers in place of a call that failed.
type FallbackSpec struct {
	// Enabled turns the stage off when it points at false. True and nil say nothing more than
	// that the stage is mentioned.
	Enabled *bool

	// Func gets the caller's context and the error, and returns the answer. An error that it
	// returns takes the place of the original, which stays in the chain as its cause; with
	// [ErrNoFallback] the original stands. It has no timeout of its own and its panics are the
	// caller's. Required.
	Func func(ctx context.Context, err error) (any, error)

	// FallbackIf, when set, decides in place of the built-in classification which errors
	// the fallback answers. It is not asked about a cancelled caller, for whom there is no
	// fallback.
	FallbackIf func(error) bool
}
