package main

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go"
	failsafebulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	failsafetimeout "github.com/failsafe-go/failsafe-go/timeout"
)

const failsafeGo = "failsafe-go"

// failsafeOf composes the stages as a policy here does. The executor is made once and told the
// field's context for each call, as a resolver that must end with its request has to do.
func failsafeOf(stages ...stage) failsafe.Executor[any] {
	var policies []failsafe.Policy[any]
	for _, s := range []stage{retry, breaker, bulkhead, rateLimit, timeout} {
		for _, wanted := range stages {
			if s == wanted {
				policies = append(policies, failsafePolicyOf(s))
			}
		}
	}
	return failsafe.With(policies...)
}

func failsafePolicyOf(s stage) failsafe.Policy[any] {
	switch s {
	case retry:
		return retrypolicy.NewBuilder[any]().WithMaxAttempts(attempts).Build()
	case breaker:
		return failsafeBreaker(window / 2)
	case bulkhead:
		return failsafebulkhead.New[any](maxConcurrent)
	case rateLimit:
		return ratelimiter.NewBursty[any](manyPerSecond, time.Second)
	default:
		return failsafetimeout.New[any](timeLimit)
	}
}

// failsafeBreaker opens when so many calls of the window failed.
func failsafeBreaker(failures uint) circuitbreaker.CircuitBreaker[any] {
	return circuitbreaker.NewBuilder[any]().WithFailureThresholdRatio(failures, window).WithDelay(openFor).Build()
}

// failsafeCall asks the resolver through the executor.
func failsafeCall(ctx context.Context, executor failsafe.Executor[any], resolve func(context.Context) (any, error)) (any, error) {
	return executor.WithContext(ctx).GetWithExecution(func(execution failsafe.Execution[any]) (any, error) {
		return resolve(execution.Context())
	})
}
