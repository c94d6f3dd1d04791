package policy

import (
	"context"
	"time"
)

// RemainingTime returns how long it is until ctx's deadline, never less than zero, and false if
// it has none. A resolver that tells its dependency how long an answer is worth waiting for,
// with a header or a parameter, asks with the context that it was given: that one ends with the
// attempt, or with the policy's total timeout, the operation's budget or the caller's own
// deadline if one of them is sooner. Whether ctx was cancelled before its time only ctx.Err
// tells.
func RemainingTime(ctx context.Context) (remaining time.Duration, ok bool) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	return max(0, time.Until(deadline)), true
}
