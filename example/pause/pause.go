// Package pause waits without outliving the context of who waits.
package pause

import (
	"context"
	"time"
)

// For returns after the duration, or with ctx's error when that ends first.
func For(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}
