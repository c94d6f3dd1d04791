package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

// A stage is one that this library and its rivals have in common.
type stage string

const (
	timeout   stage = "timeout"
	retry     stage = "retry"
	breaker   stage = "circuit-breaker"
	bulkhead  stage = "bulkhead"
	rateLimit stage = "rate-limit"
)

// fourStages are those that are on unless a case says otherwise.
var fourStages = []stage{timeout, retry, breaker, bulkhead}

// untimed are the four stages but the timeout.
var untimed = []stage{retry, breaker, bulkhead}

// What the stages are set to, here and in the rivals.
const (
	attempts      = 3
	timeLimit     = time.Second
	window        = 20 // calls, half of which may fail
	openFor       = time.Hour
	maxConcurrent = 1000
	manyPerSecond = 1_000_000_000 // nobody waits
)

// preset is the name of the policy that the schema's guarded field has.
const preset = "dependency"

// specOf turns the stages on, with room for every call.
func specOf(mode policy.TimeoutMode, stages ...stage) policy.Spec {
	var spec policy.Spec
	if slices.Contains(stages, timeout) {
		spec.Timeout = &policy.TimeoutSpec{Duration: new(timeLimit), Mode: &mode}
	}
	if slices.Contains(stages, retry) {
		spec.Retry = &policy.RetrySpec{
			Attempts: new(attempts),
			Backoff:  &policy.BackoffSpec{Delay: new(time.Duration(0))},
		}
	}
	if slices.Contains(stages, breaker) {
		spec.CircuitBreaker = &policy.CircuitBreakerSpec{
			FailureRate:  new(50),
			MinimumCalls: new(window),
			Window:       policy.CountWindow(window),
			OpenDuration: new(openFor),
		}
	}
	if slices.Contains(stages, bulkhead) {
		spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(maxConcurrent)}
	}
	if slices.Contains(stages, rateLimit) {
		spec.RateLimit = &policy.RateLimitSpec{Limit: new(manyPerSecond), Interval: new(time.Second)}
	}
	return spec
}

// roomFor returns the spec with a bulkhead that n calls at once find room in.
func roomFor(n int, spec policy.Spec) policy.Spec {
	spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(n)}
	return spec
}

// tolerant returns the spec with a breaker that only opens when all calls fail.
func tolerant(spec policy.Spec) policy.Spec {
	spec.CircuitBreaker.FailureRate = new(100)
	return spec
}

// newRegistry returns a registry with the spec as its preset, and others beside it.
func newRegistry(spec policy.Spec, others int) (*policy.Registry, error) {
	config := policy.Config{Presets: map[string]policy.Spec{preset: spec}}
	for i := range others {
		config.Presets[fmt.Sprintf("other-%d", i)] = spec
	}
	return policy.NewRegistry(config)
}
