package policy_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestAnAttemptOutOfTimeIsATimeoutThoughTheCallersDeadlineHasPassedSince(t *testing.T) {
	for name, asks := range map[string]bool{"asked for its end": true, "never asked": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Cooperative)})
				events := record(registry)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				_, err := policy.Execute(ctx, p, func(ctx context.Context) (string, error) {
					if asks {
						ctx.Done()
					}
					time.Sleep(3 * time.Second)
					assert.ErrorIs(t, context.Cause(ctx), policy.ErrTimeout)
					return "late", nil
				})
				assert.ErrorIs(t, err, policy.ErrTimeout)
				assert.Equal(t, []policy.EventKind{policy.EventTimeout}, events.kinds())
			})
		})
	}
}

func TestWhoeverAsksLateLearnsWhatEndedTheAttempt(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		for name, c := range map[string]struct {
			takes, caller time.Duration
			err           error
			cause         error
		}{
			"it returned in time":         {takes: 10 * time.Millisecond, caller: 5 * time.Second, err: context.Canceled, cause: context.Canceled},
			"its time was up":             {takes: 2 * time.Second, caller: 5 * time.Second, err: context.DeadlineExceeded, cause: policy.ErrTimeout},
			"the caller's context ended":  {takes: 900 * time.Millisecond, caller: 500 * time.Millisecond, err: context.Canceled, cause: errDown},
			"and then its time was up":    {takes: 2 * time.Second, caller: 500 * time.Millisecond, err: context.Canceled, cause: errDown},
			"the caller's had none by it": {takes: 10 * time.Millisecond, err: context.Canceled, cause: context.Canceled},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode)})
					caller, cancel := context.WithCancelCause(t.Context())
					if c.caller != 0 {
						time.AfterFunc(c.caller, func() { cancel(errDown) })
					}
					asked := make(chan context.Context, 1)
					_ = run(caller, p, func(ctx context.Context) (string, error) {
						asked <- ctx
						time.Sleep(c.takes)
						return "", errDown
					})
					time.Sleep(10 * time.Second)
					cancel(nil)
					kept := <-asked
					assert.Equal(t, c.err, kept.Err())
					assert.ErrorIs(t, context.Cause(kept), c.cause)
					derived, release := context.WithCancel(kept)
					defer release()
					assert.Equal(t, c.err, derived.Err())
				})
			})
		}
	})
}

// The cause that an outer call's context ends with is that of the same policy's inner call too.
func TestAnInnerCallDoesNotTakeTheTimeoutAroundItForItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Cooperative)})
		events := record(registry)
		err := run(t.Context(), p, func(ctx context.Context) (string, error) {
			time.Sleep(500 * time.Millisecond)
			assert.Equal(t, errDown, run(ctx, p, func(ctx context.Context) (string, error) {
				<-ctx.Done()
				time.Sleep(2 * time.Second)
				return "", errDown
			}))
			return "", nil
		})
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.Equal(t, []policy.EventKind{policy.EventTimeout}, events.kinds())
	})
}

func TestAbandonedTellsTheLimitOnlyWhereItRanOut(t *testing.T) {
	for name, c := range map[string]struct{ caller, limit time.Duration }{
		"time is up":      {time.Minute, time.Second},
		"the caller goes": {500 * time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced)})
				events := record(registry)
				ctx, cancel := context.WithTimeout(t.Context(), c.caller)
				defer cancel()
				_ = run(ctx, p, deaf(2*time.Second))
				require.NoError(t, registry.Wait(t.Context()))
				abandoned := events.of(policy.EventAbandoned)
				require.Len(t, abandoned, 1)
				assert.Equal(t, c.limit, abandoned[0].Timeout)
			})
		})
	}
}

func TestAnAttemptsContextEndsWithTheAttempt(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		for name, early := range map[string]bool{"asked for before": true, "asked for after": false} {
			t.Run(name, func(t *testing.T) {
				p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Hour, mode)})
				var kept, derived context.Context
				require.NoError(t, run(t.Context(), p, func(ctx context.Context) (string, error) {
					kept = ctx
					if early {
						child, cancel := context.WithCancel(ctx)
						t.Cleanup(cancel)
						derived = child
						return "", derived.Err()
					}
					return "", ctx.Err()
				}))
				assert.Equal(t, context.Canceled, kept.Err())
				<-kept.Done()
				if early {
					<-derived.Done()
				}
			})
		}
	})
}

func TestAnAttemptFindsByErrAloneThatItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Cooperative)})
		_ = run(t.Context(), p, func(ctx context.Context) (string, error) {
			assert.NoError(t, ctx.Err())
			time.Sleep(time.Second)
			assert.Equal(t, context.DeadlineExceeded, ctx.Err())
			return "", nil
		})
	})
}

// lateContext ends a moment after its deadline, as a timer may on a busy machine.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

func TestAnErrorAtTheCallersDeadlineIsTheCallersThoughItsTimerIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, breakerSpec(policy.CircuitBreakerSpec{}))
		deadline := time.Now().Add(time.Second)
		ctx, cancel := context.WithDeadline(t.Context(), deadline.Add(5*time.Millisecond))
		defer cancel()
		assert.Equal(t, errDown, run(lateContext{ctx, deadline}, p, func(context.Context) (string, error) {
			time.Sleep(time.Second)
			return "", errDown
		}))
		breaker, _ := registry.CircuitBreaker("carrier")
		assert.Zero(t, breaker.Stats().Failures)
	})
}

func TestTheSoonerOfTotalAndOperationEndsTheCall(t *testing.T) {
	for _, c := range []struct {
		total, operation time.Duration
		reason           string
	}{{time.Second, time.Minute, "total"}, {time.Minute, time.Second, "operation budget"}} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: &policy.TimeoutSpec{Total: new(c.total)}})
			call := callOf(func(ctx context.Context) (any, error) { return obey(ctx) })
			call.Budget = policy.NewBudget(policy.BudgetSpec{Deadline: time.Now().Add(c.operation)})
			start := time.Now()
			_, err := p.Run(t.Context(), call)
			assert.Equal(t, c.reason, asPolicyError(t, err).Reason)
			assert.Equal(t, time.Second, time.Since(start))
		})
	}
}

func TestAnAttemptAfterAnAbandonedOneIsJudgedForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout: timeoutSpec(time.Second, policy.Enforced), Retry: retrySpec(2, time.Second),
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(3), HoldAbandoned: new(true)},
		})
		bulkhead, _ := registry.Bulkhead("carrier")
		_, err := policy.Execute(t.Context(), p, func(ctx context.Context) (string, error) {
			if policy.AttemptFromContext(ctx) == 1 {
				time.Sleep(time.Minute)
			}
			return "quote", nil
		})
		require.NoError(t, err)
		assert.Equal(t, 1, bulkhead.Running(), "only what was abandoned keeps its slot")

		err = run(t.Context(), p, func(ctx context.Context) (string, error) {
			if policy.AttemptFromContext(ctx) == 2 {
				time.Sleep(time.Minute)
			}
			return "", errDown
		})
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.NotErrorIs(t, err, errDown, "the failure of another attempt is no cause of this one's timeout")
		require.NoError(t, registry.Wait(t.Context()))
		assert.Zero(t, bulkhead.Running())
	})
}

func TestWhatAnAbandonedAttemptKeepsIsNotTheCallsWhateverEndedIt(t *testing.T) {
	for _, caller := range []time.Duration{500 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced)})
			ctx, cancel := context.WithTimeout(t.Context(), caller)
			defer cancel()
			call := callOf(func(context.Context) (any, error) { return deaf(2 * time.Second)(t.Context()) })
			_, err := p.Run(ctx, call)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.False(t, call.Own())
			require.NoError(t, registry.Wait(t.Context()))
		})
	}
}

// countingContext counts who waits for its end. Package context must not find the one inside, for it
// would wait for that.
type countingContext struct {
	context.Context
	waiting *atomic.Int64
}

func (countingContext) Value(any) any { return nil }

func (c countingContext) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	stopped := context.AfterFunc(c.Context, f)
	return func() bool {
		if !stopped() {
			return false
		}
		c.waiting.Add(-1)
		return true
	}
}

func TestNothingWaitsOnTheCallersContextAfterTheCall(t *testing.T) {
	for name, fn := range map[string]func(context.Context) (string, error){
		"it succeeded": succeed, "it failed": fail, "its time was up": obey, "it was abandoned": deaf(time.Minute),
		"its end was asked for": func(ctx context.Context) (string, error) {
			ctx.Done()
			return succeed(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
				synctest.Test(t, func(t *testing.T) {
					spec := timeoutSpec(time.Second, mode)
					spec.Total = new(2 * time.Minute)
					p, registry := newPolicy(t, policy.Spec{Timeout: spec, Retry: retrySpec(2, time.Second)})
					operation, cancel := context.WithCancel(context.Background())
					defer cancel()
					other, cancelOther := context.WithCancel(context.Background())
					defer cancelOther()
					var waiting atomic.Int64
					var w policy.Watcher
					for _, ctx := range []context.Context{operation, other, operation} {
						_, _, _ = watched(countingContext{ctx, &waiting}, p, &w, fn)
						_ = run(countingContext{ctx, &waiting}, p, fn)
					}
					w.Stop()
					assert.Zero(t, waiting.Load())
					_, _, _ = watched(countingContext{operation, &waiting}, p, &w, fn)
					assert.Zero(t, waiting.Load(), "a call after the stop")

					var stoppedInFlight policy.Watcher
					_, _, _ = watched(countingContext{operation, &waiting}, p, &stoppedInFlight, func(ctx context.Context) (string, error) {
						stoppedInFlight.Stop()
						return fn(ctx)
					})
					assert.Zero(t, waiting.Load(), "a stop during the call")
					require.NoError(t, registry.Wait(t.Context()))
				})
			})
		})
	}
}
