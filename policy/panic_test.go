package policy_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// panicky has gates whose permits a panic could take with it.
func panicky(t *testing.T, mode policy.TimeoutMode, change func(*policy.Spec)) (*policy.Policy, *policy.Registry) {
	t.Helper()
	spec := policy.Spec{
		Timeout:        timeoutSpec(time.Second, mode),
		Retry:          retrySpec(3, 0),
		CircuitBreaker: &policy.CircuitBreakerSpec{OpenDuration: new(time.Minute)},
		Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1), HoldAbandoned: new(true)},
	}
	if change != nil {
		change(&spec)
	}
	return newPolicy(t, spec)
}

// caught runs fn and returns what it panicked with.
func caught(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}

func released(t *testing.T, registry *policy.Registry, failures int) {
	t.Helper()
	breaker, _ := registry.CircuitBreaker("carrier")
	bulkhead, _ := registry.Bulkhead("carrier")
	assert.Zero(t, bulkhead.Running())
	assert.Equal(t, failures, breaker.Stats().Failures)
}

func explode(context.Context) (string, error) { panic(io.ErrUnexpectedEOF) }

func TestACooperativePanicPassesThroughAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Cooperative, func(s *policy.Spec) { s.Fallback = &policy.FallbackSpec{Func: answer} })
		value := caught(func() { times(1, p, explode) })
		assert.Equal(t, io.ErrUnexpectedEOF, value, "not wrapped, not retried, not answered")
		released(t, registry, 1)
	})
}

func TestAPanicWithANilPointerIsAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, nil)
		value := caught(func() {
			times(1, p, func(context.Context) (string, error) { panic((*policy.PanicError)(nil)) })
		})
		require.IsType(t, &policy.PanicError{}, value)
		assert.NotNil(t, value)
		released(t, registry, 1)
	})
}

func TestAnEnforcedPanicIsRaisedAgainForTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, nil)
		calls := 0
		value := caught(func() {
			times(1, p, func(ctx context.Context) (string, error) { calls++; return explode(ctx) })
		})
		assert.Equal(t, 1, calls)
		e, ok := value.(*policy.PanicError)
		require.True(t, ok, "%T", value)
		assert.Equal(t, io.ErrUnexpectedEOF, e.Value)
		assert.ErrorIs(t, e, io.ErrUnexpectedEOF)
		assert.Contains(t, string(e.Stack), "policy_test.explode", "the stack is the function's")
		assert.True(t, strings.HasPrefix(e.Error(), "panic: unexpected EOF\n\ngoroutine "))
		assert.Nil(t, errors.Unwrap(&policy.PanicError{Value: "boom"}))
		released(t, registry, 1)
	})
}

func TestAFallbackAnswersAnEnforcedPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, func(s *policy.Spec) {
			s.Fallback = &policy.FallbackSpec{Func: func(_ context.Context, err error) (any, error) {
				var e *policy.PanicError
				assert.ErrorAs(t, err, &e)
				return "flat rate", nil
			}}
		})
		value, err := policy.Execute(t.Context(), p, explode)
		assert.NoError(t, err)
		assert.Equal(t, "flat rate", value)
		released(t, registry, 1)
	})
}

func TestAFallbackThatDeclinesLeavesThePanicAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, func(s *policy.Spec) {
			s.Fallback = &policy.FallbackSpec{Func: answer, FallbackIf: func(error) bool { return false }}
		})
		assert.NotNil(t, caught(func() { times(1, p, explode) }))
		released(t, registry, 1)
	})
}

func TestAPanicOfNilAndOneForACallerWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, nil)
		value := caught(func() { times(1, p, func(context.Context) (string, error) { panic(nil) }) })
		assert.IsType(t, &policy.PanicError{}, value)
		released(t, registry, 1)

		ctx, cancel := context.WithCancel(t.Context())
		value = caught(func() {
			_ = run(ctx, p, func(context.Context) (string, error) { cancel(); panic("boom") })
		})
		assert.IsType(t, &policy.PanicError{}, value, "a bug is a bug, whoever has left")
		released(t, registry, 1)
	})
}

func TestAPanicAfterTheTimeoutIsTheTimeoutsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, func(s *policy.Spec) { s.Retry = nil })
		err := run(t.Context(), p, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			panic(io.ErrUnexpectedEOF)
		})
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		released(t, registry, 1)
	})
}

func TestAPanicOfAnAbandonedAttemptIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, func(s *policy.Spec) { s.Retry = nil })
		assert.ErrorIs(t, run(t.Context(), p, func(context.Context) (string, error) {
			time.Sleep(time.Minute)
			panic("late")
		}), policy.ErrTimeout)
		require.NoError(t, registry.Wait(t.Context()))
		released(t, registry, 1)
	})
}

func TestGoexitInCooperativeModeEndsTheCallersGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Cooperative, nil)
		returned := false
		done := make(chan struct{})
		go func() {
			defer close(done)
			times(1, p, func(context.Context) (string, error) { runtime.Goexit(); return "", nil })
			returned = true
		}()
		<-done
		assert.False(t, returned)
		released(t, registry, 1)
	})
}

func TestGoexitInEnforcedModeIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, nil)
		calls := 0
		err := run(t.Context(), p, func(context.Context) (string, error) { calls++; runtime.Goexit(); return "", nil })
		assert.EqualError(t, err, "the function ended its goroutine with runtime.Goexit")
		assert.Equal(t, 1, calls, "not retried, as a panic is not")
		released(t, registry, 1)
	})
}

func TestGoexitOfAnAbandonedAttemptIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := panicky(t, policy.Enforced, func(s *policy.Spec) { s.Retry = nil })
		assert.ErrorIs(t, run(t.Context(), p, func(context.Context) (string, error) {
			time.Sleep(time.Minute)
			runtime.Goexit()
			return "", nil
		}), policy.ErrTimeout)
		require.NoError(t, registry.Wait(t.Context()))
		released(t, registry, 1)
	})
}

func TestAPanickingProbeOpensAndGivesItsPlaceBack(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := panicky(t, mode, nil)
			breaker, _ := registry.CircuitBreaker("carrier")
			breaker.Trip()
			time.Sleep(time.Minute)
			assert.NotNil(t, caught(func() { times(1, p, explode) }))
			assert.Equal(t, policy.StateOpen, breaker.State())
			assert.Zero(t, breaker.Stats().Probes)
		})
	})
}

func TestPanicsOfUsersFuncsReleaseEverything(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		for name, change := range map[string]func(*policy.Spec){
			"RetryIf":  func(s *policy.Spec) { s.Retry.RetryIf = func(error, int) bool { panic("bug") } },
			"RecordIf": func(s *policy.Spec) { s.CircuitBreaker.RecordIf = func(error) bool { panic("bug") } },
			"backoff": func(s *policy.Spec) {
				s.Retry.Backoff = &policy.BackoffSpec{Func: func(int, error) time.Duration { panic("bug") }}
			},
			"FallbackIf": func(s *policy.Spec) {
				s.Fallback = &policy.FallbackSpec{Func: answer, FallbackIf: func(error) bool { panic("bug") }}
				s.Retry = nil
			},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, registry := panicky(t, mode, change)
					assert.PanicsWithValue(t, "bug", func() { times(1, p, fail) })
					released(t, registry, 1)
				})
			})
		}
	})
}

func TestAPanicThroughTwoPoliciesKeepsItsOwnStack(t *testing.T) {
	p, _ := newPolicy(t, policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Minute), Mode: new(policy.Enforced)}})
	defer func() {
		raised, ok := recover().(*policy.PanicError)
		require.True(t, ok)
		require.Equal(t, "boom", raised.Value)
	}()
	_ = run(t.Context(), p, func(ctx context.Context) (string, error) {
		return "", run(ctx, p, func(context.Context) (string, error) { panic("boom") })
	})
}
