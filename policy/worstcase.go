package policy

import (
	"math"
	"time"
)

// WorstCase is the longest time that a call under a policy may take.
type WorstCase struct {
	// Duration is the time: every attempt takes its place in the bulkhead's queue, its turn of
	// the limiter and its timeout to the full, every wait between attempts is the longest that
	// the jitter allows, or MaxDelay, for which a dependency may ask by Retry-After, and Total
	// ends it all. 0 if there is no bound.
	Duration time.Duration

	// WithoutRetryAfter is the same as long as nobody asks for a longer wait than the
	// backoff's.
	WithoutRetryAfter time.Duration

	// Unbounded says what has no bound, such as "attempts without timeout.duration". "": all
	// has one.
	Unbounded string
}

// WorstCase tells how long a call may take: retries is whether it may make more than one
// attempt, which Call.NoRetry forbids. In [Cooperative] mode the function is taken to return
// once its context has ended; in [Enforced] mode the 10 ms count that an attempt may take to
// return before it is abandoned. The deadline of a caller, or of an operation's [Budget], can
// only shorten it. What it does not count: the fallback, which nothing limits, waiting for a
// turn in a Budget's Concurrency, funcs of the spec, subscribers, and a machine that is late.
func (d Description) WorstCase(retries bool) WorstCase {
	attempts := 1
	if retries {
		attempts = d.Attempts
	}
	return d.plan.worstCase(attempts)
}

// countedRetries is how many retries have their waits computed one by one. All after them count
// as the longest that there can be.
const countedRetries = 1000

func (p *plan) worstCase(attempts int) WorstCase {
	late, limit := time.Duration(0), time.Duration(math.MaxInt64)
	if p.enforced {
		late = grace
	}
	if p.total > 0 {
		limit = plus(p.total, late)
	}
	gates, unbounded := p.longestAttempt()
	switch {
	case unbounded == "" && attempts == Unlimited && p.total == 0:
		return WorstCase{Unbounded: "retry.attempts: unlimited"}
	case unbounded != "" && p.total == 0:
		return WorstCase{Unbounded: unbounded}
	case unbounded != "":
		return WorstCase{Duration: limit, WithoutRetryAfter: limit}
	}

	failed := plus(gates, p.timeout) // just before its time was up
	timedOut := plus(failed, late)
	worst := WorstCase{Duration: timedOut, WithoutRetryAfter: timedOut}
	var soonest time.Duration // that the next attempt can start
	for attempt := 1; attempt != attempts; attempt++ {
		b := &p.retry.backoff
		if attempt > countedRetries {
			rest := times(plus(timedOut, b.maxDelay), attempts-attempt)
			if attempts == Unlimited {
				rest = limit
			}
			worst.Duration, worst.WithoutRetryAfter = plus(worst.Duration, rest), plus(worst.WithoutRetryAfter, rest)
			break
		}
		shortest, longest := b.bounds(attempt)
		if soonest = plus(soonest, shortest); p.total > 0 && soonest >= p.total {
			break // no retry starts that late
		}
		// A timeout carries no Retry-After: only a failure can ask for MaxDelay.
		worst.Duration = plus(worst.Duration, max(plus(failed, b.maxDelay), plus(timedOut, longest)))
		worst.WithoutRetryAfter = plus(worst.WithoutRetryAfter, plus(timedOut, longest))
	}
	worst.Duration, worst.WithoutRetryAfter = min(worst.Duration, limit), min(worst.WithoutRetryAfter, limit)
	return worst
}

// longestAttempt is how long an attempt may wait at the gates, or what else of it has no bound.
func (p *plan) longestAttempt() (gates time.Duration, unbounded string) {
	if p.timeout == 0 {
		return 0, "attempts without timeout.duration"
	}
	if b := p.bulkhead; b != nil && b.settings.maxQueue > 0 {
		if b.settings.queueTimeout == 0 {
			return 0, "a queue without bulkhead.queueTimeout"
		}
		gates = b.settings.queueTimeout
	}
	if l := p.limiter; l != nil {
		gates = plus(gates, l.settings.maxWait)
	}
	return gates, ""
}

// bounds is how short and how long the wait after attempt can be, if nobody asks for more.
func (b *backoff) bounds(attempt int) (shortest, longest time.Duration) {
	if b.fn != nil {
		return 0, b.maxDelay
	}
	base := b.base(attempt)
	switch b.jitter {
	case JitterFull:
		return 0, base
	case JitterEqual:
		return base - base/2, base
	default:
		return base, base
	}
}

// plus is a + b, neither of them negative, or as much as a duration can be.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// times is d, n times, neither of them negative, or as much as a duration can be.
func times(d time.Duration, n int) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return d * time.Duration(n)
}
