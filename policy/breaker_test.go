package policy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// quickBreaker opens after two failures, for a minute.
func quickBreaker(change func(*policy.CircuitBreakerSpec)) policy.Spec {
	b := &policy.CircuitBreakerSpec{
		MinimumCalls: new(2), Window: policy.CountWindow(4), OpenDuration: new(time.Minute), FailureRate: new(50),
	}
	if change != nil {
		change(b)
	}
	return policy.Spec{CircuitBreaker: b}
}

func newBreaker(t *testing.T, change func(*policy.CircuitBreakerSpec)) (*policy.Policy, *policy.CircuitBreaker, *recorder) {
	t.Helper()
	p, registry := newPolicy(t, quickBreaker(change))
	breaker, ok := registry.CircuitBreaker("carrier")
	require.True(t, ok)
	return p, breaker, record(registry)
}

// held starts a call that runs until release is called with its error.
func held(t *testing.T, p *policy.Policy) (release func(error)) {
	t.Helper()
	end, done := make(chan error), make(chan struct{})
	go func() {
		defer close(done)
		_ = run(context.Background(), p, func(context.Context) (string, error) { return "", <-end })
	}()
	synctest.Wait()
	return func(err error) { end <- err; <-done }
}

func TestTheBreakerOpensAtItsRateAndNotBeforeItsMinimum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, events := newBreaker(t, func(b *policy.CircuitBreakerSpec) {
			b.MinimumCalls, b.Window, b.FailureRate = new(10), policy.CountWindow(20), new(60)
		})
		times(9, p, fail)
		assert.Equal(t, policy.StateClosed, breaker.State())
		times(1, p, fail)
		assert.Equal(t, policy.StateOpen, breaker.State())
		assert.Equal(t, []policy.EventKind{"circuit-open"}, events.kinds())

		breaker.Reset()
		times(5, p, fail)
		times(4, p, succeed)
		assert.Equal(t, policy.StateClosed, breaker.State())
		times(1, p, fail) // 6 of 10
		assert.Equal(t, policy.StateOpen, breaker.State())
	})
}

func TestASuccessMayBeTheCallThatOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, nil)
		times(1, p, fail)
		assert.Equal(t, policy.StateClosed, breaker.State())
		times(1, p, succeed)
		assert.Equal(t, policy.StateOpen, breaker.State(), "1 of 2 is 50%")
	})
}

func TestAnOpenBreakerRejectsAtOnceAndTellsUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, nil)
		times(2, p, fail)
		opened := time.Now()
		time.Sleep(15 * time.Second)
		err := run(t.Context(), p, func(context.Context) (string, error) {
			t.Error("called while open")
			return "", nil
		})
		assert.ErrorIs(t, err, policy.ErrCircuitOpen)
		assert.Equal(t, 45*time.Second, asPolicyError(t, err).RetryAfter)
		assert.Equal(t, policy.CircuitBreakerStats{
			State: policy.StateOpen, Since: opened, Calls: 2, Failures: 2, RetryAfter: 45 * time.Second,
		}, breaker.Stats())
	})
}

func TestStateFollowsTheClockAndReadingChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, events := newBreaker(t, nil)
		times(2, p, fail)
		time.Sleep(time.Minute - 1)
		assert.Equal(t, policy.StateOpen, breaker.State())
		assert.Equal(t, time.Duration(1), breaker.Stats().RetryAfter)
		time.Sleep(time.Nanosecond)
		for range 3 {
			assert.Equal(t, policy.StateHalfOpen, breaker.State())
			assert.Zero(t, breaker.Stats().RetryAfter)
		}
		assert.Equal(t, []policy.EventKind{"circuit-open"}, events.kinds(), "reading is no event")

		times(1, p, succeed)
		assert.Equal(t, policy.StateClosed, breaker.State())
		assert.Zero(t, breaker.Stats().Calls, "a fresh window")
		assert.Equal(t, []policy.EventKind{"circuit-open", "circuit-half-open", "circuit-closed"}, events.kinds())
	})
}

func TestAFailedProbeOpensForAnotherWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, events := newBreaker(t, nil)
		times(2, p, fail)
		time.Sleep(time.Hour)
		times(1, p, fail)
		assert.Equal(t, policy.StateOpen, breaker.State())
		assert.Equal(t, time.Minute, breaker.Stats().RetryAfter)
		kinds := []policy.EventKind{"circuit-open", "circuit-half-open", "circuit-open"}
		assert.Equal(t, kinds, events.kinds())
	})
}

func TestExactlyOneOfAThousandCallsIsTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, events := newBreaker(t, nil)
		times(2, p, fail)
		time.Sleep(time.Minute)
		var probes, rejected atomic.Int32
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				err := run(t.Context(), p, func(context.Context) (string, error) {
					probes.Add(1)
					time.Sleep(time.Second)
					return "", nil
				})
				if errors.Is(err, policy.ErrCircuitOpen) {
					assert.Equal(t, time.Second, asPolicyError(t, err).RetryAfter)
					rejected.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 1, probes.Load())
		assert.EqualValues(t, 999, rejected.Load())
		assert.Equal(t, policy.StateClosed, breaker.State())
		assert.Len(t, events.of(policy.EventCircuitHalfOpen), 1)
		assert.Len(t, events.of(policy.EventCircuitRejected), 999)
	})
}

func TestAllProbesMustSucceedToClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, func(b *policy.CircuitBreakerSpec) { b.HalfOpenMaxCalls = new(3) })
		breaker.Trip()
		time.Sleep(time.Minute)
		first, second := held(t, p), held(t, p)
		assert.Equal(t, 2, breaker.Stats().Probes)
		times(1, p, succeed)
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrCircuitOpen, "three have been let through")
		first(nil)
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
		second(nil)
		assert.Equal(t, policy.StateClosed, breaker.State())
	})
}

func TestOneOfSeveralProbesThatFailsOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, events := newBreaker(t, func(b *policy.CircuitBreakerSpec) { b.HalfOpenMaxCalls = new(2) })
		breaker.Trip()
		time.Sleep(time.Minute)
		first, second := held(t, p), held(t, p)
		first(errDown)
		assert.Equal(t, policy.StateOpen, breaker.State())
		second(nil) // of an earlier era
		assert.Equal(t, policy.StateOpen, breaker.State())
		assert.Len(t, events.of(policy.EventCircuitOpen), 2)
		time.Sleep(time.Minute)
		assert.Zero(t, breaker.Stats().Probes)
	})
}

func TestAProbeThatEndsIgnoredGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, nil)
		breaker.Trip()
		time.Sleep(time.Minute)
		times(5, p, failWith(policy.AsClientError(errDown)))
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
		assert.Zero(t, breaker.Stats().Probes)

		ctx, cancel := context.WithCancel(t.Context())
		_ = run(ctx, p, func(context.Context) (string, error) { cancel(); return "", errDown })
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
		times(1, p, succeed)
		assert.Equal(t, policy.StateClosed, breaker.State())
	})
}

func TestAProbeThatTakesTooLongHasFailedAtThatInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, events := newBreaker(t, func(b *policy.CircuitBreakerSpec) { b.HalfOpenMaxWait = new(5 * time.Second) })
		breaker.Trip()
		time.Sleep(time.Minute)
		probe := held(t, p)
		time.Sleep(5*time.Second - 1)
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
		time.Sleep(time.Nanosecond)
		failed := time.Now()
		time.Sleep(10 * time.Second)
		stats := breaker.Stats()
		assert.Equal(t, policy.StateOpen, stats.State)
		assert.Equal(t, failed, stats.Since)
		assert.Equal(t, 50*time.Second, stats.RetryAfter, "counted from the instant of the failure")
		assert.Zero(t, stats.Probes)

		err := run(t.Context(), p, succeed)
		assert.Equal(t, 50*time.Second, asPolicyError(t, err).RetryAfter)
		opened := events.of(policy.EventCircuitOpen)
		require.Len(t, opened, 2, "the first call after it tells")
		assert.Equal(t, failed, opened[1].Time)
		assert.Equal(t, "a probe took too long", opened[1].Reason)

		time.Sleep(time.Minute)
		next := held(t, p) // a probe of the next era
		probe(nil)
		assert.Equal(t, policy.StateHalfOpen, breaker.State(), "the late result is dropped")
		assert.Equal(t, 1, breaker.Stats().Probes)
		next(nil)
		assert.Equal(t, policy.StateClosed, breaker.State())
	})
}

func TestHalfOpenMaxWaitIsTheOpenDurationByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, nil)
		breaker.Trip()
		time.Sleep(time.Minute)
		probe := held(t, p)
		time.Sleep(time.Minute - 1)
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, policy.StateOpen, breaker.State())
		time.Sleep(time.Minute)
		assert.Equal(t, policy.StateHalfOpen, breaker.State(), "and half-open once more, though nobody called")
		probe(nil)
		assert.Equal(t, policy.StateHalfOpen, breaker.State())
	})
}

func TestStatesHaveNames(t *testing.T) {
	names := fmt.Sprint(policy.StateClosed, " ", policy.StateOpen, " ", policy.StateHalfOpen)
	assert.Equal(t, "closed open half-open", names)
}

func TestTripAndReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, events := newBreaker(t, nil)
		underway := held(t, p)
		breaker.Trip()
		assert.Equal(t, policy.StateOpen, breaker.State())
		time.Sleep(30 * time.Second)
		breaker.Trip()
		assert.Equal(t, time.Minute, breaker.Stats().RetryAfter, "open for the usual time from now")
		underway(errDown)
		breaker.Reset()
		assert.Equal(t, policy.StateClosed, breaker.State())
		assert.Zero(t, breaker.Stats().Calls)
		breaker.Reset()

		tripped, reset := events.all()[0], events.all()[1]
		assert.Len(t, events.all(), 2, "nothing changed, nothing told")
		assert.Equal(t, "tripped", tripped.Reason)
		assert.Equal(t, "reset", reset.Reason)
		assert.Equal(t, []uint64{1, 2}, []uint64{tripped.Sequence, reset.Sequence})
		assert.Empty(t, tripped.Policy)
		assert.Equal(t, "carrier", tripped.Gate)
	})
}

func TestResultsOfAnEarlierEraAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, nil)
		first, second := held(t, p), held(t, p)
		breaker.Reset()
		first(errDown)
		second(errDown)
		assert.Equal(t, policy.StateClosed, breaker.State())
		assert.Zero(t, breaker.Stats().Calls)
	})
}

func TestRecordIfDecidesWhatIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []error
		p, breaker, _ := newBreaker(t, func(b *policy.CircuitBreakerSpec) {
			b.RecordIf = func(err error) bool { asked = append(asked, err); return errors.Is(err, errDown) }
			b.MinimumCalls = new(4)
		})
		client := policy.AsClientError(errDown)
		times(1, p, succeed)
		times(1, p, failWith(client))
		times(1, p, failWith(errors.ErrUnsupported))
		assert.Equal(t, 2, breaker.Stats().Calls, "false is ignored, not a success")
		assert.Equal(t, 1, breaker.Stats().Failures)
		assert.Equal(t, []error{client, errors.ErrUnsupported}, asked)
	})
}

func TestATimeWindowForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, breaker, _ := newBreaker(t, func(b *policy.CircuitBreakerSpec) {
			b.Window, b.MinimumCalls = policy.TimeWindow(10*time.Second), new(3)
		})
		times(2, p, fail)
		time.Sleep(10 * time.Second)
		assert.Zero(t, breaker.Stats().Calls)
		times(2, p, fail)
		assert.Equal(t, policy.StateClosed, breaker.State())
		times(1, p, fail)
		assert.Equal(t, policy.StateOpen, breaker.State())
	})
}
