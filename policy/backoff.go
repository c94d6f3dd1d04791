package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// backoff computes the wait between attempts.
type backoff struct {
	delay, maxDelay time.Duration
	factor          float64
	jitter          Jitter
	fn              func(attempt int, err error) time.Duration
}

// wait returns how long to wait after attempt failed with err, from zero to maxDelay.
func (b *backoff) wait(attempt int, err error) time.Duration {
	if b.fn != nil {
		return min(max(0, b.fn(attempt, err)), b.maxDelay)
	}
	return b.spread(b.base(attempt))
}

// base is the wait before jitter: delay × factor^(attempt−1), at most maxDelay. The float
// comparison comes before the conversion, which would overflow.
func (b *backoff) base(attempt int) time.Duration {
	if b.delay == 0 {
		return 0 // and not 0 × ∞
	}
	grown := float64(b.delay) * math.Pow(b.factor, float64(attempt-1))
	if grown >= float64(b.maxDelay) {
		return b.maxDelay
	}
	return time.Duration(grown)
}

func (b *backoff) spread(d time.Duration) time.Duration {
	switch b.jitter {
	case JitterFull:
		return randomUpTo(d)
	case JitterEqual:
		return d - d/2 + randomUpTo(d/2)
	default:
		return d
	}
}

// randomUpTo returns a random duration from 0 to d, both included.
func randomUpTo(d time.Duration) time.Duration {
	if d == math.MaxInt64 {
		return rand.N(d)
	}
	return rand.N(d + 1)
}

// delay returns how long to wait after attempt. The wait is not worthwhile if the dependency
// asked for one beyond the maximum, or if ctx would end before it does.
func (r *retry) delay(ctx context.Context, err error, attempt int) (delay time.Duration, worthwhile bool) {
	after := retryAfterOf(err)
	if after > r.backoff.maxDelay {
		return 0, false
	}
	delay = max(r.backoff.wait(attempt, err), after)
	deadline, ok := ctx.Deadline()
	return delay, !ok || time.Now().Add(delay).Before(deadline)
}
