package policy_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// totalSpec limits all attempts together to d.
func totalSpec(d time.Duration, mode policy.TimeoutMode) *policy.TimeoutSpec {
	return &policy.TimeoutSpec{Total: &d, Mode: &mode}
}

func TestTotalDuringAnAttemptIsThatAttemptsTimeout(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			spec := policy.Spec{
				Timeout:        totalSpec(5*time.Second, mode),
				Retry:          retrySpec(9, 0),
				CircuitBreaker: &policy.CircuitBreakerSpec{},
			}
			spec.Timeout.Duration = new(2 * time.Second)
			p, registry := newPolicy(t, spec)
			events := record(registry)
			calls, start := 0, time.Now()
			err := run(t.Context(), p, func(ctx context.Context) (string, error) {
				calls++
				return obey(ctx)
			})
			assert.Equal(t, 5*time.Second, time.Since(start))
			assert.Equal(t, 3, calls)
			e := asPolicyError(t, err)
			assert.Equal(t, policy.KindTimeout, e.Kind)
			assert.Equal(t, "total", e.Reason)

			breaker, _ := registry.CircuitBreaker("carrier")
			stats := breaker.Stats()
			assert.Equal(t, 3, stats.Failures, "the one that total ended counts")
			assert.Equal(t, []policy.EventKind{"timeout", "retry", "timeout", "retry", "timeout"}, events.kinds())
			last := events.all()[4]
			assert.Equal(t, 5*time.Second, last.Timeout)
			assert.Equal(t, "total", last.Reason)
			assert.Equal(t, 3, last.Attempt)
		})
	})
}

func TestTotalAbandonsADeafAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: totalSpec(time.Second, policy.Enforced)})
		start := time.Now()
		assert.ErrorIs(t, run(t.Context(), p, deaf(time.Minute)), policy.ErrTimeout)
		assert.Equal(t, time.Second+10*time.Millisecond, time.Since(start))
		assert.Equal(t, 1, registry.Abandoned())
		require.NoError(t, registry.Wait(t.Context()))
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

// A wait that would not end in time is not begun; one that total cuts short is that of a gate.
func TestTotalInAQueueIsATimeoutThatNoBreakerCounts(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{
				Timeout:        totalSpec(time.Second, mode),
				Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)},
				CircuitBreaker: &policy.CircuitBreakerSpec{},
			})
			job, err := registry.New("hog", bulkheadSpec(policy.BulkheadSpec{Name: new("carrier")}))
			require.NoError(t, err)
			events := record(registry)
			var hog sync.WaitGroup
			hog.Go(func() { _ = run(t.Context(), job, deaf(time.Minute)) })
			synctest.Wait()

			start := time.Now()
			err = run(t.Context(), p, func(context.Context) (string, error) {
				t.Error("called after its time")
				return "", nil
			})
			assert.Equal(t, time.Second, time.Since(start))
			assert.ErrorIs(t, err, policy.ErrTimeout)
			assert.Equal(t, "total", asPolicyError(t, err).Reason)
			assert.Equal(t, []policy.EventKind{"timeout"}, events.kinds())
			breaker, _ := registry.CircuitBreaker("carrier")
			assert.Zero(t, breaker.Stats().Calls)
			hog.Wait()
		})
	})
}

func TestAFallbackAnswersATotalThatRanOutInAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{
			Timeout:  totalSpec(time.Second, policy.Cooperative),
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)},
			Fallback: &policy.FallbackSpec{Func: func(ctx context.Context, err error) (any, error) {
				_, limited := ctx.Deadline()
				assert.False(t, limited, "total does not limit the fallback")
				time.Sleep(time.Hour)
				return "flat rate", ctx.Err()
			}},
		})
		var hog sync.WaitGroup
		hog.Go(func() { _ = run(t.Context(), p, deaf(time.Minute)) })
		synctest.Wait()
		value, err := policy.Execute(t.Context(), p, succeed)
		assert.NoError(t, err)
		assert.Equal(t, "flat rate", value)
		hog.Wait()
	})
}

func TestARetryThatTotalLeavesNoTimeForIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout: totalSpec(2*time.Second, policy.Cooperative), Retry: retrySpec(5, time.Second),
		})
		events := record(registry)
		start := time.Now()
		err := run(t.Context(), p, fail)
		assert.Equal(t, time.Second, time.Since(start), "the second wait would end with total, not before")
		assert.Same(t, errDown, err, "not a timeout: the last attempt failed in time")
		assert.Equal(t, []policy.EventKind{"retry"}, events.kinds())
	})
}

// endsUnseen is a context whose end only Err tells: as if a slot had come at the same moment,
// and had been seen first.
type endsUnseen struct {
	context.Context
	over atomic.Bool
}

func (c *endsUnseen) Done() <-chan struct{} { return nil }

func (c *endsUnseen) Err() error {
	if c.over.Load() {
		return context.Canceled
	}
	return nil
}

func TestASlotThatComesTooLateIsHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(2)},
			CircuitBreaker: &policy.CircuitBreakerSpec{},
		})
		ctx := &endsUnseen{Context: t.Context()}
		var done sync.WaitGroup
		done.Go(func() {
			_ = run(t.Context(), p, func(context.Context) (string, error) {
				time.Sleep(time.Second)
				ctx.over.Store(true)
				return "", nil
			})
		})
		synctest.Wait()
		done.Go(func() {
			assert.ErrorIs(t, run(ctx, p, func(context.Context) (string, error) {
				t.Error("called for nobody")
				return "", nil
			}), context.Canceled)
		})
		synctest.Wait()
		done.Go(func() { assert.NoError(t, run(t.Context(), p, succeed)) })
		done.Wait()

		bulkhead, _ := registry.Bulkhead("carrier")
		assert.Zero(t, bulkhead.Running())
		breaker, _ := registry.CircuitBreaker("carrier")
		assert.Equal(t, 2, breaker.Stats().Calls)
	})
}

func TestNothingAnswersACallerWhoLeftAsTotalRanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:  totalSpec(time.Second, policy.Cooperative),
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)},
			Fallback: &policy.FallbackSpec{Func: answer},
		})
		release := held(t, p.WithSource("hog"))
		events := record(registry)
		ctx := &endsUnseen{Context: t.Context()}
		time.AfterFunc(500*time.Millisecond, func() { ctx.over.Store(true) })
		assert.Error(t, run(ctx, p, succeed))
		assert.Empty(t, events.all())
		release(nil)
	})
}

func TestTotalRunningOutKeepsTheFailureBeforeAsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:  totalSpec(3*time.Second, policy.Cooperative),
			Retry:    retrySpec(2, time.Second),
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)},
		})
		hog, err := registry.New("hog", bulkheadSpec(policy.BulkheadSpec{Name: new("carrier")}))
		require.NoError(t, err)
		var done sync.WaitGroup
		err = run(t.Context(), p, func(context.Context) (string, error) {
			done.Go(func() {
				time.Sleep(time.Millisecond)
				_ = run(t.Context(), hog, deaf(time.Minute))
			})
			return "", policy.Permanent(errDown)
		})
		assert.Same(t, errDown, err, "permanent: no second attempt")
		done.Wait()

		err = run(t.Context(), p, func(context.Context) (string, error) {
			done.Go(func() {
				time.Sleep(time.Millisecond)
				_ = run(t.Context(), hog, deaf(time.Minute))
			})
			return "", errDown
		})
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.Same(t, errDown, errors.Unwrap(err))
		done.Wait()
	})
}
