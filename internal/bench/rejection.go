package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/policy"
)

// untouched returns a dependency that must not be asked.
func untouched(*stand) *dependency {
	return &dependency{resolve: func(context.Context) (*int, error) {
		return nil, errors.New("the dependency was asked")
	}}
}

// rejected checks that a call was rejected for the reason.
func rejected(reason error) func(any, error) error {
	return func(value any, err error) error {
		if answer, ok := value.(*int); ok && answer != nil || !errors.Is(err, reason) {
			return fmt.Errorf("the call was not rejected with %q: %v, %v", reason, value, err)
		}
		return nil
	}
}

// shut is the guarded field behind a gate that lets no call through.
func shut(by hook, spec policy.Spec, shut func(*stand, *policy.Registry) error, reason error, options ...extension.Option) setUp {
	return func(t *stand) (loop, error) {
		r := untouched(t).resolver(0)
		s, registry, err := newProtected(r, by, spec, options...)
		if err != nil {
			return loop{}, err
		}
		if err := shut(t, registry); err != nil {
			return loop{}, err
		}
		return calling(t, s, r, func(ctx context.Context, resolve func(context.Context) (any, error)) (any, error) {
			return s.intercept(ctx, resolve)
		}, rejected(reason))
	}
}

// tripped opens the preset's breaker.
func tripped(_ *stand, registry *policy.Registry) error {
	opened, ok := registry.CircuitBreaker(preset)
	if !ok {
		return errors.New("the preset has no breaker")
	}
	opened.Trip()
	return nil
}

// failsafeShut is the resolver behind a gate of failsafe-go's that lets no call through.
func failsafeShut(executor func() failsafe.Executor[any], reason error) setUp {
	return func(t *stand) (loop, error) {
		r := untouched(t).resolver(0)
		through := executor()
		return calling(t, newServer(r), r, func(ctx context.Context, resolve func(context.Context) (any, error)) (any, error) {
			return failsafeCall(ctx, through, resolve)
		}, rejected(reason))
	}
}

// failsafeOpen has the four stages, and an open breaker.
func failsafeOpen() failsafe.Executor[any] {
	opened := failsafeBreaker(window / 2)
	opened.Open()
	return failsafe.With(failsafePolicyOf(retry), failsafe.Policy[any](opened), failsafePolicyOf(bulkhead), failsafePolicyOf(timeout))
}

// rejectionCases are calls that never reach the resolver.
func rejectionCases() (cases []benchCase) {
	for _, by := range []hook{middleware, guard} {
		for _, m := range modes {
			cases = append(cases, benchCase{
				name:       "field/open-breaker/" + string(by) + "/" + m.name,
				ours:       shut(by, specOf(m.mode, fourStages...), tripped, policy.ErrCircuitOpen),
				rivals:     []rival{{name: failsafeGo, setUp: failsafeShut(failsafeOpen, circuitbreaker.ErrOpen)}},
				mostNs:     100,
				mostAllocs: 1,
			})
		}
	}
	return cases
}
