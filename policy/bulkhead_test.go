package policy_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func newBulkhead(t *testing.T, spec policy.BulkheadSpec) (*policy.Policy, *policy.Bulkhead, *policy.Registry) {
	t.Helper()
	p, registry := newPolicy(t, policy.Spec{Bulkhead: &spec})
	bulkhead, ok := registry.Bulkhead("carrier")
	require.True(t, ok)
	return p, bulkhead, registry
}

func TestAFullBulkheadRejectsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, bulkhead, registry := newBulkhead(t, policy.BulkheadSpec{MaxConcurrent: new(2)})
		events := record(registry)
		first, second := held(t, p), held(t, p)
		assert.Equal(t, 2, bulkhead.Running())
		start := time.Now()
		err := run(t.Context(), p.WithSource("job"), succeed)
		assert.Zero(t, time.Since(start))
		assert.ErrorIs(t, err, policy.ErrBulkheadFull)
		assert.Equal(t, `policy "carrier" for job: the bulkhead is full`, err.Error())
		assert.Equal(t, []policy.Event{{
			Kind: policy.EventBulkheadRejected, Time: start, Policy: "carrier", Source: "job", Gate: "carrier",
			Attempt: 1, Running: 2, Err: err,
		}}, events.all())

		first(nil)
		assert.NoError(t, run(t.Context(), p, succeed))
		second(nil)
		assert.Zero(t, bulkhead.Running())
	})
}

func TestTheQueueIsFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, bulkhead, _ := newBulkhead(t, policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(50)})
		release := held(t, p)
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				assert.NoError(t, run(t.Context(), p, func(context.Context) (string, error) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, i)
					return "", nil
				}))
			})
			synctest.Wait()
		}
		assert.Equal(t, 50, bulkhead.Queued())
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrBulkheadFull, "the queue is full too")
		release(nil)
		all.Wait()
		for i, got := range order {
			require.Equal(t, i, got)
		}
		assert.Len(t, order, 50)
	})
}

func TestTheQueueTimeoutRejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, bulkhead, registry := newBulkhead(t, policy.BulkheadSpec{
			MaxConcurrent: new(1), MaxQueue: new(2), QueueTimeout: new(5 * time.Second),
		})
		events := record(registry)
		release := held(t, p)
		start := time.Now()
		err := run(t.Context(), p, succeed)
		assert.Equal(t, 5*time.Second, time.Since(start))
		e := asPolicyError(t, err)
		assert.Equal(t, policy.KindBulkheadFull, e.Kind)
		assert.Equal(t, "queue timeout", e.Reason)
		assert.Equal(t, "queue timeout", events.all()[0].Reason)
		assert.Zero(t, bulkhead.Queued())
		release(nil)
		assert.Zero(t, bulkhead.Running())
	})
}

func TestAWaiterThatGaveUpTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, bulkhead, registry := newBulkhead(t, policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(3)})
		events := record(registry)
		release := held(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { assert.ErrorIs(t, run(ctx, p, succeed), context.Canceled) })
		}
		all.Go(func() { assert.NoError(t, run(t.Context(), p, succeed)) })
		synctest.Wait()
		assert.Equal(t, 3, bulkhead.Queued())
		cancel()
		synctest.Wait()
		assert.Equal(t, 1, bulkhead.Queued())
		release(nil)
		all.Wait()
		assert.Zero(t, bulkhead.Running())
		assert.Empty(t, events.all(), "who gave up was not rejected")
	})
}

// Many calls come, wait, time out, are cancelled, panic and end their goroutines, at moments
// that often coincide. In the end all slots must be there, and never were there more.
func TestAllSlotsAreBackAfterAnyStorm(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			mode := policy.TimeoutMode(1 + seed%2)
			registry := newRegistry(t, policy.Config{})
			p, err := registry.New("carrier", policy.Spec{
				Timeout: timeoutSpec(3*time.Second, mode),
				Bulkhead: &policy.BulkheadSpec{
					MaxConcurrent: new(3), MaxQueue: new(20), QueueTimeout: new(2 * time.Second), HoldAbandoned: new(seed%4 < 2),
				},
			})
			require.NoError(t, err)
			bulkhead, _ := registry.Bulkhead("carrier")
			var running, most atomic.Int32
			var all sync.WaitGroup
			random := rand.New(rand.NewPCG(seed, 1))
			for range 300 {
				arrival, patience := random.IntN(60)*int(time.Second)/2, random.IntN(6)*int(time.Second)/2
				work, end := random.IntN(10)*int(time.Second)/2, random.IntN(5)
				all.Go(func() {
					defer func() { _ = recover() }()
					time.Sleep(time.Duration(arrival))
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(patience))
					defer cancel()
					_ = run(ctx, p, func(ctx context.Context) (string, error) {
						held := running.Add(1)
						for {
							m := most.Load()
							if held <= m || most.CompareAndSwap(m, held) {
								break
							}
						}
						defer running.Add(-1)
						if end%2 == 0 {
							select {
							case <-ctx.Done():
							case <-time.After(time.Duration(work)):
							}
						} else {
							time.Sleep(time.Duration(work))
						}
						switch end {
						case 2:
							panic("storm")
						case 3:
							runtime.Goexit()
						}
						return "", ctx.Err()
					})
				})
			}
			all.Wait()
			require.NoError(t, registry.Wait(t.Context()))
			synctest.Wait()
			assert.Zero(t, bulkhead.Running(), "seed %d", seed)
			assert.Zero(t, bulkhead.Queued())
			if mode == policy.Cooperative || seed%4 < 2 {
				assert.LessOrEqual(t, most.Load(), int32(3))
			}

			releases := []func(error){held(t, p), held(t, p), held(t, p)}
			assert.Equal(t, 3, bulkhead.Running(), "and all three can be taken")
			for _, release := range releases {
				release(nil)
			}
		})
	}
}

func TestHoldAbandonedKeepsTheSlotUntilTheWorkEnds(t *testing.T) {
	for _, hold := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{
				Timeout:  timeoutSpec(time.Second, policy.Enforced),
				Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), HoldAbandoned: &hold},
			})
			bulkhead, _ := registry.Bulkhead("carrier")
			start := time.Now()
			assert.ErrorIs(t, run(t.Context(), p, deaf(time.Minute)), policy.ErrTimeout)
			if hold {
				assert.Equal(t, 1, bulkhead.Running())
				assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrBulkheadFull)
			} else {
				assert.Zero(t, bulkhead.Running())
				assert.NoError(t, run(t.Context(), p, succeed))
			}
			require.NoError(t, registry.Wait(t.Context()))
			assert.Equal(t, time.Minute, time.Since(start))
			assert.Zero(t, bulkhead.Running())
			assert.NoError(t, run(t.Context(), p, succeed))
		})
	}
}

func TestHoldAbandonedFreesTheSlotOfAnObedientAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:  timeoutSpec(time.Second, policy.Enforced),
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), HoldAbandoned: new(true)},
		})
		times(3, p, obey)
		bulkhead, _ := registry.Bulkhead("carrier")
		assert.Zero(t, bulkhead.Running())
	})
}

// A slot must not go back twice, though a subscriber ends the goroutine just when an attempt
// has been abandoned.
func TestASlotOfAnAbandonedAttemptGoesBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:  timeoutSpec(time.Second, policy.Enforced),
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), HoldAbandoned: new(true)},
		})
		bulkhead, _ := registry.Bulkhead("carrier")
		cancel := registry.Subscribe(func(context.Context, policy.Event) { runtime.Goexit() })
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = run(context.Background(), p, deaf(time.Minute))
		}()
		<-done
		cancel()
		assert.Equal(t, 1, bulkhead.Running())
		require.NoError(t, registry.Wait(t.Context()))
		assert.Zero(t, bulkhead.Running())
	})
}

func TestABulkheadTellsItsSettings(t *testing.T) {
	_, bulkhead, _ := newBulkhead(t, policy.BulkheadSpec{MaxQueue: new(4)})
	assert.Equal(t, "carrier", bulkhead.Name())
	assert.Equal(t, 10, bulkhead.MaxConcurrent(), "by default")
	assert.Equal(t, 4, bulkhead.MaxQueue())
}
