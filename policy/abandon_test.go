package policy_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestADeafAttemptIsAbandonedAfterItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced)})
		events := record(registry)
		start := time.Now()
		value, err := policy.Execute(t.Context(), p.WithSource("job"), deaf(time.Minute))

		assert.Equal(t, time.Second+10*time.Millisecond, time.Since(start))
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.Nil(t, errors.Unwrap(err))
		assert.Empty(t, value)
		assert.Equal(t, 1, registry.Abandoned())

		assert.Equal(t, []policy.EventKind{"timeout", "abandoned"}, events.kinds())
		assert.Equal(t, policy.Event{
			Kind: policy.EventAbandoned, Time: time.Now(), Policy: "carrier", Source: "job",
			Attempt: 1, Timeout: time.Second, Running: 1,
		}, events.all()[1])

		require.NoError(t, registry.Wait(t.Context()))
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Zero(t, registry.Abandoned())
	})
}

func TestAnObedientAttemptIsNotAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced)})
		events := record(registry)
		_ = run(t.Context(), p, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			time.Sleep(9 * time.Millisecond)
			return "", ctx.Err()
		})
		assert.Zero(t, registry.Abandoned())
		assert.Equal(t, []policy.EventKind{"timeout"}, events.kinds())
	})
}

func TestAnAttemptIsAbandonedForACallerWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout: timeoutSpec(time.Hour, policy.Enforced), CircuitBreaker: &policy.CircuitBreakerSpec{},
			Fallback: &policy.FallbackSpec{Func: answer},
		})
		events := record(registry)
		gone := errors.New("the client went away")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		start := time.Now()
		err := run(ctx, p, deaf(time.Minute))

		assert.Equal(t, time.Second+10*time.Millisecond, time.Since(start))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, gone)
		assert.NotErrorIs(t, err, policy.ErrTimeout)
		assert.Equal(t, []policy.EventKind{"abandoned"}, events.kinds())
		breaker, _ := registry.CircuitBreaker("carrier")
		assert.Zero(t, breaker.Stats().Calls)
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestRetriesAndFallbackRunBesideAnAbandonedAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout: timeoutSpec(time.Second, policy.Enforced), Retry: retrySpec(2, 0),
			Fallback: &policy.FallbackSpec{Func: answer},
		})
		value, err := policy.Execute(t.Context(), p, deaf(time.Minute))
		assert.NoError(t, err)
		assert.Equal(t, "flat rate", value)
		assert.Equal(t, 2, registry.Abandoned())
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestAbandonEndsMakesItTheLastAndUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout: timeoutSpec(time.Second, policy.Enforced), Retry: retrySpec(3, 0),
			Fallback: &policy.FallbackSpec{Func: answer},
		})
		calls := &log{}
		call := callOf(func(ctx context.Context) (any, error) {
			if calls.add() == 1 {
				return obey(ctx) // one that obeys does not end it
			}
			return deaf(time.Minute)(ctx)
		})
		call.AbandonEnds = true
		value, err := p.Run(t.Context(), call)
		assert.Nil(t, value)
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.Equal(t, 2, calls.len())
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestAttemptsAreRefusedWhileTooManyAbandonedOnesRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:        &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Enforced), MaxAbandoned: new(2)},
			CircuitBreaker: &policy.CircuitBreakerSpec{},
		})
		other, err := registry.New("other", policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced)})
		require.NoError(t, err)
		times(2, p, deaf(time.Minute))
		events := record(registry)

		err = run(t.Context(), p.WithSource("job"), func(context.Context) (string, error) {
			t.Error("called beside too many")
			return "", nil
		})
		e := asPolicyError(t, err)
		assert.Equal(t, policy.Error{
			Kind: policy.KindBulkheadFull, Policy: "carrier", Source: "job", Reason: "too many abandoned attempts are running",
		}, *e)
		assert.ErrorIs(t, err, policy.ErrBulkheadFull)
		assert.Equal(t, []policy.Event{{
			Kind: policy.EventBulkheadRejected, Time: time.Now(), Policy: "carrier", Source: "job", Attempt: 1,
			Reason: e.Reason, Running: 2, Err: e,
		}}, events.all())
		breaker, _ := registry.CircuitBreaker("carrier")
		assert.Equal(t, 2, breaker.Stats().Calls, "a rejection is not counted")
		assert.NoError(t, run(t.Context(), other, succeed), "another policy has its own count")

		time.Sleep(58 * time.Second) // the first of the two ends
		assert.NoError(t, run(t.Context(), p, succeed))
		require.NoError(t, registry.Wait(t.Context()))
	})
}

// They were let in before anything was abandoned.
func TestThoseWhoWaitedAreRefusedToo(t *testing.T) {
	for name, gate := range map[string]policy.Spec{
		"in the bulkhead's queue": {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(50)}},
		"for the rate limit": {RateLimit: &policy.RateLimitSpec{
			Limit: new(1), Interval: new(2 * time.Second), MaxWait: new(time.Hour),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate.Timeout = &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Enforced), MaxAbandoned: new(2)}
				gate.CircuitBreaker = &policy.CircuitBreakerSpec{}
				p, registry := newPolicy(t, gate)
				breaker, _ := registry.CircuitBreaker("carrier")
				results := make(chan error, 40)
				for range 40 {
					go func() { results <- run(t.Context(), p, deaf(10*time.Minute)) }()
				}
				rejected := 0
				for range 40 {
					if errors.Is(<-results, policy.ErrBulkheadFull) {
						rejected++
					}
				}
				assert.Equal(t, 38, rejected)
				assert.Equal(t, 2, registry.Abandoned())
				assert.Equal(t, 2, breaker.Stats().Calls)
				if bulkhead, ok := registry.Bulkhead("carrier"); ok {
					assert.Zero(t, bulkhead.Running())
				}
				require.NoError(t, registry.Wait(t.Context()))
			})
		})
	}
}

func TestARefusalForAbandonedAttemptsGivesTheTokenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Timeout:   &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Enforced), MaxAbandoned: new(1)},
			RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Minute), MaxWait: new(time.Hour)},
		})
		limiter, _ := registry.RateLimiter("carrier")
		abandoned := make(chan error, 1)
		go func() { abandoned <- run(t.Context(), p, deaf(time.Hour)) }()
		synctest.Wait()
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrBulkheadFull, "after the wait for its token")
		assert.ErrorIs(t, <-abandoned, policy.ErrTimeout)
		assert.Equal(t, 1, limiter.Available())
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestFieldsOfAPresetShareTheCountOfAbandonedAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{"carrier": {
			Timeout: &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Enforced), MaxAbandoned: new(1)},
		}}})
		a := compose(t, registry, policy.Composition{Name: "Query.a", Preset: "carrier"})
		b := compose(t, registry, policy.Composition{Name: "Query.b", Preset: "carrier"})
		times(1, a, deaf(time.Minute))
		assert.ErrorIs(t, run(t.Context(), b, succeed), policy.ErrBulkheadFull)
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestCooperativeAttemptsAreNeverRefusedForAbandonedOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{
			"carrier": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second), MaxAbandoned: new(1)}},
		}})
		field := compose(t, registry, policy.Composition{Name: "Query.a", Preset: "carrier", Mode: policy.Enforced})
		job, _ := registry.Preset("carrier")
		times(1, field, deaf(time.Minute))
		assert.NoError(t, run(t.Context(), job, succeed))
		require.NoError(t, registry.Wait(t.Context()))
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced)})
		require.NoError(t, registry.Wait(t.Context()), "nothing to wait for")
		times(1, p, deaf(time.Minute))

		hurry := errors.New("the deadline of the shutdown")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, hurry)
		defer cancel()
		assert.Equal(t, hurry, registry.Wait(ctx))
		assert.Equal(t, 1, registry.Abandoned())

		waiting := make(chan error, 2)
		go func() { waiting <- registry.Wait(t.Context()) }()
		go func() { waiting <- registry.Wait(t.Context()) }()
		assert.NoError(t, <-waiting)
		assert.NoError(t, <-waiting)
		assert.Zero(t, registry.Abandoned())
	})
}

func TestWhatAnAbandonedAttemptDoesLaterHarmsNothing(t *testing.T) {
	for name, end := range map[string]func() (string, error){
		"a value":  func() (string, error) { return "late", nil },
		"an error": func() (string, error) { return "", errDown },
		"a panic":  func() (string, error) { panic("late") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, registry := newPolicy(t, policy.Spec{
					Timeout:        timeoutSpec(time.Second, policy.Enforced),
					Bulkhead:       &policy.BulkheadSpec{},
					CircuitBreaker: &policy.CircuitBreakerSpec{},
				})
				events := record(registry)
				err := run(t.Context(), p, func(context.Context) (string, error) {
					time.Sleep(time.Minute)
					return end()
				})
				assert.ErrorIs(t, err, policy.ErrTimeout)
				seen := len(events.all())
				require.NoError(t, registry.Wait(t.Context()))

				breaker, _ := registry.CircuitBreaker("carrier")
				bulkhead, _ := registry.Bulkhead("carrier")
				assert.Equal(t, 1, breaker.Stats().Calls)
				assert.Zero(t, bulkhead.Running())
				assert.Len(t, events.all(), seen)
			})
		})
	}
}

func TestNobodyQueuesForASlotWhereTooManyAbandonedAttemptsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := timeoutSpec(time.Second, policy.Enforced)
		spec.MaxAbandoned = new(1)
		p, registry := newPolicy(t, policy.Spec{
			Timeout: spec, Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1), HoldAbandoned: new(true)},
		})
		assert.ErrorIs(t, run(t.Context(), p, deaf(time.Minute)), policy.ErrTimeout)
		start := time.Now()
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrBulkheadFull)
		assert.Zero(t, time.Since(start))
		require.NoError(t, registry.Wait(t.Context()))
	})
}
