package policy_test

import (
	"context"
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
