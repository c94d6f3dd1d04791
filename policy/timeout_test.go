package policy_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestATimeoutEndsEachAttempt(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode), Retry: retrySpec(3, time.Second)})
			start := time.Now()
			err := run(t.Context(), p.WithSource("job"), obey)

			assert.Equal(t, 5*time.Second, time.Since(start), "three attempts of 1s and two waits of 1s")
			assert.ErrorIs(t, err, policy.ErrTimeout)
			e := asPolicyError(t, err)
			assert.Equal(t, policy.Error{
				Kind: policy.KindTimeout, Policy: "carrier", Source: "job", Cause: context.DeadlineExceeded,
			}, *e)
		})
	})
}

func TestATimeoutIsADeadlineExceeded(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode)})
			err := run(t.Context(), p, func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "late", nil
			})
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, context.Canceled)
			assert.NotErrorIs(t, err, policy.ErrCircuitOpen)
			var timeout interface{ Timeout() bool }
			require.ErrorAs(t, err, &timeout)
			assert.True(t, timeout.Timeout())
			assert.Nil(t, errors.Unwrap(err), "the function returned no error")
			assert.Equal(t, `policy "carrier": the operation timed out`, err.Error())

			var rejection error = &policy.Error{Kind: policy.KindCircuitOpen}
			assert.NotErrorIs(t, rejection, context.DeadlineExceeded)
			require.ErrorAs(t, rejection, &timeout)
			assert.False(t, timeout.Timeout())
		})
	})
}

func TestInsideAnAttemptTheContextTellsWhy(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			for name, spec := range map[string]*policy.TimeoutSpec{
				"":      {Duration: new(time.Second), Mode: &mode},
				"total": {Total: new(time.Second), Mode: &mode},
			} {
				p, _ := newPolicy(t, policy.Spec{Timeout: spec})
				inside := make(chan error, 2)
				_ = run(t.Context(), p.WithSource("job"), func(ctx context.Context) (string, error) {
					deadline, ok := ctx.Deadline()
					assert.True(t, ok)
					assert.Equal(t, time.Second, time.Until(deadline))
					child, cancel := context.WithCancel(ctx)
					defer cancel()
					<-child.Done()
					inside <- ctx.Err()
					inside <- context.Cause(child)
					return "", nil
				})
				assert.Equal(t, context.DeadlineExceeded, <-inside)
				cause := asPolicyError(t, <-inside)
				assert.Equal(t, policy.Error{Kind: policy.KindTimeout, Policy: "carrier", Source: "job", Reason: name}, *cause)
			}
		})
	})
}

func TestWhatAnAttemptReturnsLateIsDropped(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode)})
			value, err := policy.Execute(t.Context(), p, deaf(time.Second+5*time.Millisecond))
			assert.ErrorIs(t, err, policy.ErrTimeout)
			assert.Empty(t, value)
		})
	})
}

func TestALateErrorIsTheTimeoutsCause(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode)})
			err := run(t.Context(), p, func(context.Context) (string, error) {
				time.Sleep(time.Second + 5*time.Millisecond)
				return "", policy.Permanent(errDown)
			})
			assert.ErrorIs(t, err, policy.ErrTimeout)
			assert.ErrorIs(t, err, errDown)
			assert.Same(t, errDown, errors.Unwrap(err), "without the mark")
			assert.Equal(t, `policy "carrier": the operation timed out: carrier down`, err.Error())
		})
	})
}

func TestAnAttemptThatIsInTimeIsLeftAlone(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode)})
			value, err := policy.Execute(t.Context(), p, deaf(time.Second-1))
			assert.NoError(t, err)
			assert.Equal(t, "late", value)

			deadline := errors.New("a deadline of its own")
			err = run(t.Context(), p, failWith(deadline))
			assert.Same(t, deadline, err)
			assert.NotErrorIs(t, err, policy.ErrTimeout)
			err = run(t.Context(), p, failWith(context.DeadlineExceeded))
			assert.Equal(t, context.DeadlineExceeded, err, "no timer of the policy has fired")
		})
	})
}

func TestCooperativeWaitsForADeafFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}})
		start := time.Now()
		err := run(t.Context(), p, deaf(time.Minute))
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Zero(t, registry.Abandoned())
	})
}

func TestExecuteIsCooperativeAndComposeSaysTheMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Config{
			Presets: map[string]policy.Spec{"carrier": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}},
		})
		took := func(p *policy.Policy) time.Duration {
			start := time.Now()
			assert.ErrorIs(t, run(t.Context(), p, deaf(time.Minute)), policy.ErrTimeout)
			return time.Since(start)
		}
		job, _ := registry.Preset("carrier")
		assert.False(t, job.Enforced())
		assert.Equal(t, time.Minute, took(job))
		field := policy.Composition{Name: "Query.quotes", Preset: "carrier", Mode: policy.Enforced}
		assert.True(t, compose(t, registry, field).Enforced())
		assert.Equal(t, time.Second+10*time.Millisecond, took(compose(t, registry, field)))
		field.Layers = layer("field", timeout(policy.TimeoutSpec{Mode: new(policy.Cooperative)}))
		assert.Equal(t, time.Minute, took(compose(t, registry, field)), "a spec's mode wins")
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestTheCallersOwnDeadlineIsNoTimeoutOfThePolicy(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{
				Timeout:        &policy.TimeoutSpec{Duration: new(2 * time.Second), Total: new(3 * time.Second), Mode: &mode},
				Retry:          retrySpec(3, time.Second),
				CircuitBreaker: &policy.CircuitBreakerSpec{},
				Fallback:       &policy.FallbackSpec{Func: answer},
			})
			events := record(registry)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := run(ctx, p, obey)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, policy.ErrTimeout)
			breaker, _ := registry.CircuitBreaker("carrier")
			assert.Zero(t, breaker.Stats().Calls)
			assert.Empty(t, events.all())
		})
	})
}

func TestACancelledCallerIsNotCalledFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced), Retry: &policy.RetrySpec{}})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(net.ErrClosed)
		err := run(ctx, p, func(context.Context) (string, error) {
			t.Error("called for nobody")
			return "", nil
		})
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, net.ErrClosed, "the cause says more")
	})
}

func TestASuccessForACancelledCallerIsASuccess(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, mode)})
			ctx, cancel := context.WithCancel(t.Context())
			value, err := policy.Execute(ctx, p, func(context.Context) (string, error) {
				cancel()
				return "quote", nil
			})
			assert.NoError(t, err)
			assert.Equal(t, "quote", value)
		})
	})
}

// Connections that take their deadline from the context may fail before its timer has fired.
func TestAConnectionThatNoticesTheDeadlineFirstHasTimedOut(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:        &policy.TimeoutSpec{Duration: new(time.Millisecond), Mode: &mode},
			CircuitBreaker: &policy.CircuitBreakerSpec{},
		})
		err := run(t.Context(), p, func(ctx context.Context) (string, error) {
			deadline, _ := ctx.Deadline()
			for time.Now().Before(deadline) { // without giving the timer a chance, if it can be helped
			}
			return "", errDown
		})
		require.ErrorIs(t, err, policy.ErrTimeout)
		require.ErrorIs(t, err, errDown)
		breaker, _ := registry.CircuitBreaker("carrier")
		require.Equal(t, 1, breaker.Stats().Failures)
	})
}
