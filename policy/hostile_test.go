package policy_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

const forever = time.Duration(math.MaxInt64)

// Every number as large as it can be: either a message says no, or the policy works.
func TestLargestNumbersNeitherPanicNorOverflow(t *testing.T) {
	for name, spec := range map[string]policy.Spec{
		"timeout": {Timeout: &policy.TimeoutSpec{Duration: new(forever), Total: new(forever), MaxAbandoned: new(math.MaxInt), Mode: new(policy.Enforced)}},
		"retry": {Retry: &policy.RetrySpec{Attempts: new(math.MaxInt), Backoff: &policy.BackoffSpec{
			Delay: new(time.Duration(1)), Factor: new(math.MaxFloat64), MaxDelay: new(forever),
		}}},
		"circuit breaker": breakerSpec(policy.CircuitBreakerSpec{
			Window: policy.TimeWindow(forever), MinimumCalls: new(math.MaxInt), OpenDuration: new(forever),
			HalfOpenMaxCalls: new(math.MaxInt), HalfOpenMaxWait: new(forever),
		}),
		"bulkhead": bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(math.MaxInt), MaxQueue: new(math.MaxInt), QueueTimeout: new(forever)}),
		"rate limit": rateLimit(func(r *policy.RateLimitSpec) {
			r.Limit, r.Interval = new(math.MaxInt32), new(10*time.Second)
			r.Burst, r.MaxWait = new(math.MaxInt32), new(forever)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, registry := newPolicy(t, spec)
				times(3, p, succeed)
				quote, err := policy.Execute(t.Context(), p, succeed)
				require.NoError(t, err)
				assert.Equal(t, "quote", quote)

				if b, ok := registry.CircuitBreaker("carrier"); ok {
					b.Trip()
					assert.Equal(t, policy.StateOpen, b.State())
					assert.Equal(t, forever, b.Stats().RetryAfter)
					time.Sleep(time.Second)
					assert.Equal(t, policy.StateOpen, b.State())
					assert.Equal(t, forever-time.Second, b.Stats().RetryAfter)
				}
			})
		})
	}
}

func TestALimitOfAgesStillLimits(t *testing.T) {
	for _, interval := range []time.Duration{forever, forever - 1, forever / 2, forever / 4} {
		for _, limit := range []int{1, 2, 3} {
			synctest.Test(t, func(t *testing.T) {
				p, err := newRegistry(t, policy.Config{}).New("carrier", policy.Spec{RateLimit: limitSpec(limit, interval)})
				if err != nil {
					assert.ErrorContains(t, err, "rateLimit.interval: "+interval.String(), "a refusal must name what it refuses")
					return
				}
				for range limit {
					require.NoError(t, run(t.Context(), p, succeed))
				}
				assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrRateLimited, "limit %d per %v", limit, interval)
			})
		}
	}
}

// listErr is an error that == panics over.
type listErr []string

func (listErr) Error() string { return "a list" }

// listingContext ends with such an error.
type listingContext struct{ context.Context }

func (listingContext) Err() error { return listErr{"gone"} }

func TestAContextMayEndWithAnErrorThatCannotBeCompared(t *testing.T) {
	p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(2, 0)})
	assert.Equal(t, listErr{"gone"}, run(listingContext{t.Context()}, p, succeed))
}

func TestALimitMayBeAsLongAsADurationCanBe(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		spec := timeoutSpec(forever, mode)
		spec.Total = new(forever)
		p, _ := newPolicy(t, policy.Spec{Timeout: spec})
		call := callOf(func(ctx context.Context) (any, error) {
			deadline, ok := ctx.Deadline()
			assert.True(t, ok && time.Until(deadline) > forever/2)
			return nil, ctx.Err()
		})
		call.Budget = policy.NewBudget(policy.BudgetSpec{Deadline: time.Now().AddDate(1_000, 0, 0)})
		_, err := p.Run(t.Context(), call)
		assert.NoError(t, err, "outside of a bubble, whose clock is behind")
	})
}

// boastingContext names a deadline that it does not keep.
type boastingContext struct {
	context.Context
	deadline time.Time
}

func (c boastingContext) Deadline() (time.Time, bool) { return c.deadline, true }

func TestACallEndsThoughItsContextDoesNotKeepItsDeadline(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(2*time.Second, mode)})
			ctx := boastingContext{t.Context(), time.Now().Add(time.Second)}
			assert.ErrorIs(t, run(ctx, p, func(ctx context.Context) (string, error) {
				ctx.Done()
				time.Sleep(3 * time.Second)
				_ = ctx.Err() // returns
				return "late", nil
			}), policy.ErrTimeout)
			require.NoError(t, registry.Wait(t.Context()))
		})
	})
}

// doneContext is done without an error, as a context is that has come alive again.
type doneContext struct{ context.Context }

func (doneContext) Err() error { return nil }

func TestAWaitEndsWithAContextThatHasNoErrorWhenItIsDone(t *testing.T) {
	p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(2, time.Minute)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := run(doneContext{ctx}, p, fail)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, errDown)
}

func TestAvailableIsNeverMoreThanTheBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const decade = 10 * 365 * 24 * time.Hour
		p, registry := newPolicy(t, rateLimit(func(r *policy.RateLimitSpec) {
			r.Limit, r.Interval, r.MaxWait = new(1), new(5*decade), new(forever)
		}))
		limiter, _ := registry.RateLimiter("carrier")
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		for range 10 {
			waiting.Go(func() { _ = run(ctx, p, succeed) })
			synctest.Wait()
			assert.Zero(t, limiter.Available())
		}
		cancel()
		waiting.Wait()
	})
}

func TestExtremeValuesOfPolicyErrorsAreReadable(t *testing.T) {
	assert.NotPanics(t, func() {
		_ = (&policy.Error{}).Error()
		_ = (&policy.Error{Kind: -1}).Is(policy.ErrTimeout)
		_ = policy.State(-1).String()
	})
	assert.Equal(t, "State(7)", policy.State(7).String())
}
