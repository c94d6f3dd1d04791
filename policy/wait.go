package policy

import (
	"context"
	"fmt"
	"time"
)

// sleep waits, and reports false as soon as ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// awaitTimer waits for the timer of a context whose deadline has passed. A connection that took
// its own deadline from the context may have failed before the timer fired.
func awaitTimer(ctx context.Context) {
	deadline, ok := ctx.Deadline()
	if !ok || ctx.Err() != nil || time.Now().Before(deadline) {
		return
	}
	awaitEnd(ctx)
}

// awaitEnd waits for the end of a context that is due to end.
func awaitEnd(ctx context.Context) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// ended is the error of a context that has ended: its own, and its cause if that says more. It is
// never nil: a context whose Done was closed may have no error, or none any more.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	switch {
	case err == nil:
		return context.Canceled
	case same(cause, err):
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
