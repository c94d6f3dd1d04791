package policy_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/policy"
)

// watched runs fn within ctx, under p and the watcher, and tells how long the call took.
func watched(ctx context.Context, p *policy.Policy, w *policy.Watcher, fn func(context.Context) (string, error)) (call *policy.Call, took time.Duration, err error) {
	call = callOf(func(ctx context.Context) (any, error) { return fn(ctx) })
	call.Watcher = w
	start := time.Now()
	_, err = p.Run(ctx, call)
	return call, time.Since(start), err
}

func TestAWatcherGivesUpOnlyAttemptsWhoseOwnContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(10*time.Second, policy.Enforced)})
		operation, cancel := context.WithCancel(t.Context())
		other, cancelOther := context.WithCancel(context.WithoutCancel(operation))
		defer cancelOther()
		var w policy.Watcher
		var calls sync.WaitGroup
		for _, first := range []context.Context{context.WithoutCancel(operation), operation, other} {
			for range 2 {
				calls.Go(func() {
					call, took, err := watched(first, p, &w, deaf(2*time.Second))
					if first == operation {
						assert.ErrorIs(t, err, context.Canceled)
						assert.Equal(t, time.Second+10*time.Millisecond, took)
						return
					}
					assert.NoError(t, err)
					assert.True(t, call.Own())
					assert.Equal(t, 2*time.Second, took)
				})
			}
			synctest.Wait()
		}
		time.Sleep(time.Second)
		cancel()
		calls.Wait()
		w.Stop()
		time.Sleep(time.Minute)
	})
}

func TestAWatcherGivesUpEachAttemptAtItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Config{})
		var w policy.Watcher
		var calls sync.WaitGroup
		for i, limit := range []time.Duration{time.Hour, time.Second, time.Minute, 3 * time.Second, time.Second + time.Millisecond/2, 2 * time.Hour} {
			p, err := registry.New(string(rune('a'+i)), policy.Spec{Timeout: timeoutSpec(limit, policy.Enforced)})
			assert.NoError(t, err)
			calls.Go(func() {
				_, took, err := watched(t.Context(), p, &w, deaf(5*time.Hour))
				assert.ErrorIs(t, err, policy.ErrTimeout)
				assert.GreaterOrEqual(t, took, limit+10*time.Millisecond)
				assert.LessOrEqual(t, took, limit+11*time.Millisecond)
			})
			synctest.Wait()
		}
		calls.Wait()
		w.Stop()
		assert.NoError(t, registry.Wait(t.Context()))
	})
}

func TestAWatcherWatchesAnewAfterAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(10*time.Second, policy.Enforced)})
		var w policy.Watcher
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, took, err := watched(ctx, p, &w, deaf(30*time.Second))
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, time.Second+10*time.Millisecond, took)
			w.Stop()
			_, took, err = watched(t.Context(), p, &w, deaf(30*time.Second))
			assert.ErrorIs(t, err, policy.ErrTimeout)
			assert.Equal(t, 10*time.Second+10*time.Millisecond, took)
			w.Stop()
		}
		assert.NoError(t, registry.Wait(t.Context()))
	})
}

func TestAWatcherGivesUpAnAttemptWhoseContextIsNotTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(10*time.Second, policy.Enforced)})
		var w policy.Watcher
		var calls sync.WaitGroup
		for _, limit := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			calls.Go(func() {
				_, took, err := watched(ctx, p, &w, deaf(time.Minute))
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, limit+10*time.Millisecond, took)
			})
			synctest.Wait()
		}
		calls.Wait()
		assert.NoError(t, registry.Wait(t.Context()))
	})
}

func TestAnAttemptThatReturnsAtTheMomentItIsGivenUpIsEitherAbandonedOrNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:  timeoutSpec(time.Second, policy.Enforced),
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1000), HoldAbandoned: new(true)},
		})
		events := record(registry)
		var w policy.Watcher
		var calls sync.WaitGroup
		for range 500 {
			calls.Go(func() {
				_, took, err := watched(t.Context(), p, &w, deaf(time.Second+10*time.Millisecond))
				assert.ErrorIs(t, err, policy.ErrTimeout)
				assert.Equal(t, time.Second+10*time.Millisecond, took)
			})
		}
		calls.Wait()
		synctest.Wait()
		bulkhead, _ := registry.Bulkhead("carrier")
		assert.Zero(t, bulkhead.Running())
		assert.Zero(t, registry.Abandoned())
		assert.Len(t, events.of(policy.EventTimeout), 500)
	})
}

func TestAWatcherThatWasStoppedBeforeItsTimerRangWatchesTheSameContextAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(10*time.Second, policy.Enforced)})
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		var w policy.Watcher
		_, _, err := watched(ctx, p, &w, succeed)
		assert.NoError(t, err)
		w.Stop()
		_, took, err := watched(ctx, p, &w, deaf(time.Minute))
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.Equal(t, 10*time.Second+10*time.Millisecond, took)
		_, took, err = watched(ctx, p, &w, deaf(time.Minute))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 5*time.Second, took, "it began 10 ms late, and was given 10 ms")
		assert.NoError(t, registry.Wait(t.Context()))
	})
}
