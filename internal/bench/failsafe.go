package main

import (
	"context"
	"slices"
	"time"

	"github.com/failsafe-go/failsafe-go"
	failsafebulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	failsafetimeout "github.com/failsafe-go/failsafe-go/timeout"
)

const failsafeGo = "failsafe-go"

// rivalPolicies are failsafe-go's, set as the stages here are.
type rivalPolicies struct {
	retry     retrypolicy.RetryPolicy[any]
	breaker   circuitbreaker.CircuitBreaker[any]
	bulkhead  failsafebulkhead.Bulkhead[any]
	rateLimit ratelimiter.RateLimiter[any]
	timeout   failsafetimeout.Timeout[any]
}

func newRivalPolicies() rivalPolicies {
	return rivalPolicies{
		retry:     retrypolicy.NewBuilder[any]().WithMaxAttempts(attempts).Build(),
		breaker:   rivalBreaker(window / 2),
		bulkhead:  failsafebulkhead.New[any](maxConcurrent),
		rateLimit: ratelimiter.NewBursty[any](manyPerSecond, time.Second),
		timeout:   failsafetimeout.New[any](timeLimit),
	}
}

// rivalBreaker opens when so many calls of the window have failed.
func rivalBreaker(failures uint) circuitbreaker.CircuitBreaker[any] {
	return circuitbreaker.NewBuilder[any]().WithFailureThresholdRatio(failures, window).WithDelay(openFor).Build()
}

// retryNothingRejected keeps failsafe-go from trying again what its own gates reject, as policies
// here never do.
func retryNothingRejected() retrypolicy.RetryPolicy[any] {
	return retrypolicy.NewBuilder[any]().WithMaxAttempts(attempts).
		AbortOnErrors(circuitbreaker.ErrOpen, failsafebulkhead.ErrFull).Build()
}

// compose puts the stages around one another in the order that they have here.
func (p rivalPolicies) compose(stages ...stage) failsafe.Executor[any] {
	var on []failsafe.Policy[any]
	for _, s := range []struct {
		stage  stage
		policy failsafe.Policy[any]
	}{{retry, p.retry}, {breaker, p.breaker}, {bulkhead, p.bulkhead}, {rateLimit, p.rateLimit}, {timeout, p.timeout}} {
		if slices.Contains(stages, s.stage) {
			on = append(on, s.policy)
		}
	}
	return failsafe.With(on...)
}

// throughExecutor calls through the executor, which is made once, and is told each call's context, which
// the resolver gets from it: without that, no resolver would end with its request or its timeout.
func throughExecutor(executor failsafe.Executor[any]) caller {
	return func(ctx context.Context, resolve resolver) (any, error) {
		return executor.WithContext(ctx).GetWithExecution(func(execution failsafe.Execution[any]) (any, error) {
			return resolve(execution.Context())
		})
	}
}

// failsafed is the rival of a case whose dependency is such.
func failsafed(ask newDependency, stages ...stage) setUp {
	return func(t *stand) (loop, error) {
		return unprotected(throughExecutor(newRivalPolicies().compose(stages...)), ask)(t)
	}
}
