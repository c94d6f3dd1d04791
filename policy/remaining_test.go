package policy_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestRemainingTimeIsThatUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remaining, ok := policy.RemainingTime(context.Background())
		assert.Zero(t, remaining)
		assert.False(t, ok)

		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		time.Sleep(time.Second)
		remaining, ok = policy.RemainingTime(ctx)
		assert.Equal(t, 2*time.Second, remaining)
		assert.True(t, ok)

		time.Sleep(time.Minute)
		remaining, ok = policy.RemainingTime(ctx)
		assert.Zero(t, remaining)
		assert.True(t, ok)
	})
}

func TestRemainingTimeOfAnAttemptIsTheSoonestLimits(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{
				Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second), Total: new(3 * time.Second), Mode: new(mode)},
				Retry:   retrySpec(2, 0),
			})
			var seen []time.Duration
			_ = run(t.Context(), p, func(ctx context.Context) (string, error) {
				remaining, _ := policy.RemainingTime(ctx)
				seen = append(seen, remaining)
				return obey(ctx)
			})
			assert.Equal(t, []time.Duration{2 * time.Second, time.Second}, seen)

			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_ = run(ctx, p, func(ctx context.Context) (string, error) {
				remaining, _ := policy.RemainingTime(ctx)
				assert.Equal(t, time.Second, remaining, "the caller's")
				return "", nil
			})
		})
	})
}
