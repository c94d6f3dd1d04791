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

// within runs fn under p and the budget.
func within(ctx context.Context, p *policy.Policy, budget *policy.Budget, fn func(context.Context) (string, error)) (any, error) {
	call := callOf(func(ctx context.Context) (any, error) { return fn(ctx) })
	call.Budget = budget
	value, err := p.Run(ctx, call)
	if call.Own() {
		value = call.Last().(*attempted).value
	}
	return value, err
}

// bare is a policy without any stage, as an adapter makes it.
func bare(t testing.TB) *policy.Policy {
	t.Helper()
	return compose(t, newRegistry(t, policy.Config{}), policy.Composition{Name: "Query.plain", Bare: true})
}

func lasting(d time.Duration) *policy.Budget {
	return policy.NewBudget(policy.BudgetSpec{Deadline: time.Now().Add(d)})
}

func TestACallIsOutOfTimeAtTheBudgetsDeadlineWhichNoBreakerCounts(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{
				Timeout:        &policy.TimeoutSpec{Duration: new(time.Minute), Mode: &mode},
				Retry:          retrySpec(3, 0),
				CircuitBreaker: &policy.CircuitBreakerSpec{},
			})
			events, began, calls := record(registry), time.Now(), 0
			_, err := within(t.Context(), p, lasting(3*time.Second), func(ctx context.Context) (string, error) {
				calls++
				left, limited := policy.RemainingTime(ctx)
				assert.True(t, limited)
				assert.Equal(t, 3*time.Second, left, "the attempt has no more time than the operation")
				return obey(ctx)
			})
			assert.Equal(t, 3*time.Second, time.Since(began))
			assert.Equal(t, 1, calls, "there is no time for another attempt")
			e := asPolicyError(t, err)
			assert.ErrorIs(t, err, policy.ErrTimeout)
			assert.Equal(t, "operation budget", e.Reason)
			assert.Equal(t, "carrier", e.Policy)
			assert.Equal(t, []policy.EventKind{"timeout"}, events.kinds())
			breaker, _ := registry.CircuitBreaker("carrier")
			assert.Zero(t, breaker.Stats().Calls)
		})
	})
}

func TestACallThatBeginsOutOfTimeIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := lasting(time.Second)
		time.Sleep(2 * time.Second)
		_, err := within(t.Context(), bare(t), budget, func(context.Context) (string, error) {
			t.Error("called")
			return "", nil
		})
		assert.ErrorIs(t, err, policy.ErrTimeout)
		assert.Equal(t, `policy "Query.plain" for Query.plain: the operation timed out (operation budget)`, err.Error())
	})
}

func TestAFallbackAnswersForACallThatIsOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Fallback: &policy.FallbackSpec{Func: func(ctx context.Context, err error) (any, error) {
			assert.NoError(t, ctx.Err(), "the fallback has the caller's context")
			return "flat rate", nil
		}}})
		value, err := within(t.Context(), p, lasting(time.Second), obey)
		require.NoError(t, err)
		assert.Equal(t, "flat rate", value)
	})
}

func TestTheCallersOwnEndIsNotTheBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Fallback: &policy.FallbackSpec{Func: func(context.Context, error) (any, error) {
			t.Error("there is nobody to answer")
			return nil, nil
		}}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := within(ctx, p, lasting(time.Minute), obey)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, policy.ErrTimeout)
	})
}

func TestABudgetBoundsTheRetriesOfAllItsCalls(t *testing.T) {
	p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(4, 0)})
	events := record(registry)
	budget := policy.NewBudget(policy.BudgetSpec{Retries: new(5)})
	calls := 0
	failing := func(context.Context) (string, error) {
		calls++
		return "", errDown
	}
	for range 3 {
		_, err := within(t.Context(), p, budget, failing)
		assert.Equal(t, errDown, err)
	}
	assert.Equal(t, 3+5, calls, "first attempts are not retries")
	assert.Len(t, events.all(), 5)
	_, err := within(t.Context(), p, policy.NewBudget(policy.BudgetSpec{Retries: new(0)}), failing)
	assert.Equal(t, errDown, err)
	assert.Equal(t, 9, calls, "a budget of none")
}

func TestOneOperationTakesNoMoreOfABulkheadThanItsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(3)}})
		bulkhead, _ := registry.Bulkhead("carrier")
		budget := policy.NewBudget(policy.BudgetSpec{Concurrency: 2})
		var running, most atomic.Int64
		slow := func(context.Context) (string, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(time.Second)
			return "quote", nil
		}
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				_, err := within(t.Context(), p, budget, slow)
				assert.NoError(t, err, "what waits its turn is not refused")
			})
		}
		synctest.Wait()
		assert.Equal(t, 2, bulkhead.Running())
		_, err := within(t.Context(), p, nil, succeed)
		assert.NoError(t, err, "there is room for others")
		began := time.Now()
		calls.Wait()
		assert.EqualValues(t, 2, most.Load())
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

func TestWhoWaitsItsTurnIsRejectedByACircuitThatOpensMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1)},
			Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)},
		})
		budget := policy.NewBudget(policy.BudgetSpec{Concurrency: 1})
		var calls sync.WaitGroup
		for i := range 3 {
			calls.Go(func() {
				_, err := within(t.Context(), p, budget, func(context.Context) (string, error) {
					time.Sleep(time.Second)
					return "", errDown
				})
				if i > 0 {
					assert.ErrorIs(t, err, policy.ErrCircuitOpen)
				}
			})
			synctest.Wait()
		}
		bulkhead, _ := registry.Bulkhead("carrier")
		assert.Zero(t, bulkhead.Queued(), "who waits its turn waits for nothing else")
		calls.Wait()
	})
}

func TestWhoWaitsItsTurnGivesUpWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(1, 0)})
		budget := policy.NewBudget(policy.BudgetSpec{Concurrency: 1, Deadline: time.Now().Add(5 * time.Second)})
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() {
			_, _ = within(t.Context(), p, budget, func(context.Context) (string, error) {
				time.Sleep(time.Minute)
				return "", nil
			})
		})
		synctest.Wait()
		calls.Go(func() {
			_, err := within(ctx, p, budget, succeed)
			assert.ErrorIs(t, err, context.Canceled)
		})
		calls.Go(func() {
			_, err := within(t.Context(), p, budget, succeed)
			assert.ErrorIs(t, err, policy.ErrTimeout)
		})
		synctest.Wait()
		cancel()
		calls.Wait()
		_, err := within(t.Context(), p, policy.NewBudget(policy.BudgetSpec{Concurrency: 1}), succeed)
		assert.NoError(t, err)
	})
}

func TestACallInsideAnAttemptNeedsNoTurnOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(1, 0)})
		outer, _ := newPolicy(t, policy.Spec{Retry: retrySpec(1, 0)})
		budget := policy.NewBudget(policy.BudgetSpec{Concurrency: 1})
		value, err := within(t.Context(), outer, budget, func(ctx context.Context) (string, error) {
			inner, err := within(ctx, p, budget, succeed)
			return inner.(string), err
		})
		require.NoError(t, err)
		assert.Equal(t, "quote", value)
	})
}

func TestACallUnderNoStageTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, budget, began := bare(t), policy.NewBudget(policy.BudgetSpec{Concurrency: 1}), time.Now()
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() {
				_, err := within(t.Context(), p, budget, func(context.Context) (string, error) {
					time.Sleep(time.Second)
					return "quote", nil
				})
				assert.NoError(t, err)
			})
		}
		calls.Wait()
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestACallInsideAnAttemptSharesItsBudget(t *testing.T) {
	p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(9, 0)})
	calls := 0
	_, err := within(t.Context(), bare(t), policy.NewBudget(policy.BudgetSpec{Retries: new(2), Concurrency: 1}), func(ctx context.Context) (string, error) {
		return policy.Execute(ctx, p, func(context.Context) (string, error) {
			calls++
			return "", errDown
		})
	})
	assert.Equal(t, errDown, err)
	assert.Equal(t, 3, calls)
}

func TestAFallbackThatDeclinesLeavesTheErrorAndTellsNobody(t *testing.T) {
	p, registry := newPolicy(t, policy.Spec{Fallback: &policy.FallbackSpec{
		Func: func(context.Context, error) (any, error) { return "half an answer", policy.ErrNoFallback },
	}})
	events := record(registry)
	call := callOf(func(context.Context) (any, error) { return nil, errDown })
	value, err := p.Run(t.Context(), call)
	assert.NoError(t, call.Answered())
	assert.True(t, call.Own())
	assert.Nil(t, value)
	assert.Equal(t, errDown, err)
	assert.Empty(t, events.all())
}

func TestTheEventOfAFallbackTellsWhetherItFailed(t *testing.T) {
	failures := map[error]string{nil: "", errors.New("no cache"): "failed", errDown: "failed"}
	for failure, reason := range failures {
		p, registry := newPolicy(t, policy.Spec{Fallback: &policy.FallbackSpec{
			Func: func(context.Context, error) (any, error) { return nil, failure },
		}})
		events := record(registry)
		_, err := policy.Execute(t.Context(), p, fail)
		assert.ErrorIs(t, err, failure)
		require.Equal(t, []policy.EventKind{"fallback"}, events.kinds())
		assert.Equal(t, reason, events.all()[0].Reason)
		assert.Equal(t, errDown, events.all()[0].Err)
	}
}

func TestAnsweredIsToldWhatTheFallbackAnswered(t *testing.T) {
	p, _ := newPolicy(t, policy.Spec{Fallback: &policy.FallbackSpec{
		Func: func(context.Context, error) (any, error) { return "flat rate", nil },
	}})
	call := callOf(func(context.Context) (any, error) { return nil, errDown })
	value, err := p.Run(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, "flat rate", value)
	assert.Equal(t, errDown, call.Answered())
	assert.False(t, call.Own())
}
