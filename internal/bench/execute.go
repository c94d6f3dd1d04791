package main

import (
	"context"
	"fmt"

	"github.com/sony/gobreaker/v2"

	"github.com/gqlresilience/gqlresilience/policy"
)

// longLived returns a context that can be cancelled, as all are that a server or a job has, and is
// not before the end.
func longLived(t *stand) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	t.cleanup(func() error { cancel(); return nil })
	return ctx
}

// executed is a call under a policy of the spec, outside of GraphQL.
func executed(spec policy.Spec, ask newDependency) setUp {
	return func(t *stand) (loop, error) {
		registry, err := newRegistry(spec, 0)
		if err != nil {
			return loop{}, err
		}
		d := ask(t)
		one, err := executing(t, registry, d.ask, d.check)
		return repeat(one), err
	}
}

// executing returns a call of the function under the preset.
func executing(t *stand, registry *policy.Registry, ask func(context.Context) (*int, error), check func(any, error) error) (func() error, error) {
	p, err := registry.Preset(preset)
	ctx := longLived(t)
	return func() error {
		value, err := policy.Execute(ctx, p, ask)
		return check(value, err)
	}, err
}

// straight is a rival's call outside of GraphQL.
func straight(call caller, ask newDependency) setUp {
	return func(t *stand) (loop, error) {
		d := ask(t)
		return repeat(straightly(t, call, d.ask, d.check)), nil
	}
}

func straightly(t *stand, call caller, ask func(context.Context) (*int, error), check func(any, error) error) func() error {
	ctx := longLived(t)
	resolve := func(ctx context.Context) (any, error) { return ask(ctx) }
	return func() error { return check(call(ctx, resolve)) }
}

// failsafeStraight is failsafe-go's call outside of GraphQL.
func failsafeStraight(ask newDependency, stages ...stage) setUp {
	return func(t *stand) (loop, error) {
		return straight(throughExecutor(newRivalPolicies().compose(stages...)), ask)(t)
	}
}

// newGobreaker returns a breaker set as those here are, as far as it goes: its windows are of time.
func newGobreaker() *gobreaker.CircuitBreaker[any] {
	return gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		Interval: timeLimit,
		Timeout:  openFor,
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			return counts.Requests >= window && 2*counts.TotalFailures >= counts.Requests
		},
	})
}

// throughGobreaker calls through the breaker alone.
func throughGobreaker(b *gobreaker.CircuitBreaker[any]) caller {
	return func(ctx context.Context, resolve resolver) (any, error) {
		return b.Execute(func() (any, error) { return resolve(ctx) })
	}
}

// gobreakers is the call through a breaker of gobreaker's.
func gobreakers(t *stand) (loop, error) {
	return straight(throughGobreaker(newGobreaker()), idle)(t)
}

// gobreakersOpen is the call that an open breaker of gobreaker's rejects.
func gobreakersOpen(t *stand) (loop, error) {
	b := newGobreaker()
	for b.State() == gobreaker.StateClosed {
		if _, err := b.Execute(func() (any, error) { return nil, errDown }); err == nil {
			return loop{}, fmt.Errorf("gobreaker hides %w", errDown)
		}
	}
	return repeat(straightly(t, throughGobreaker(b), untouched(t).ask, rejected(gobreaker.ErrOpenState))), nil
}

// executed is a call outside of GraphQL that the gate rejects.
func (g gate) executed(mode policy.TimeoutMode, stages ...stage) setUp {
	return func(t *stand) (loop, error) {
		registry, err := newRegistry(g.adapt(specOf(mode, stages...)), 0)
		if err != nil {
			return loop{}, err
		}
		if err := g.shut(t, registry); err != nil {
			return loop{}, err
		}
		one, err := executing(t, registry, untouched(t).ask, rejected(g.reason))
		return repeat(one), err
	}
}

// rivalStraight is failsafe-go's call outside of GraphQL that its gate rejects.
func (g gate) rivalStraight(t *stand) (loop, error) {
	return repeat(straightly(t, throughExecutor(g.rivalExecutor()), untouched(t).ask, rejected(g.rivalReason))), nil
}

// policyCases are calls outside of GraphQL.
func policyCases() (cases []benchCase) {
	for _, m := range modes {
		c := benchCase{
			name:   "policy/" + m.name,
			ours:   executed(specOf(m.mode, fourStages...), idle),
			rivals: []rival{{name: failsafeGo, setUp: failsafeStraight(idle, fourStages...)}},
		}
		if m.mode == policy.Enforced {
			c.rivals = append(c.rivals, rival{name: handingOff, setUp: straight(handOff, idle)})
		}
		cases = append(cases, c)
	}
	cases = append(cases, benchCase{
		name: "policy/only-circuit-breaker",
		ours: executed(specOf(policy.Cooperative, breaker), idle),
		rivals: []rival{
			{name: "gobreaker", setUp: gobreakers},
			{name: failsafeGo, setUp: failsafeStraight(idle, breaker)},
		},
	})
	for _, m := range modes {
		for _, g := range []gate{openBreaker, fullBulkhead} {
			cases = append(cases, g.limit(benchCase{
				name:   "policy/" + g.name + "/" + m.name,
				ours:   g.executed(m.mode, fourStages...),
				rivals: []rival{{name: failsafeGo, setUp: g.rivalStraight}},
			}))
		}
	}
	return append(cases, openBreaker.limit(benchCase{
		name:   "policy/open-breaker/only",
		ours:   openBreaker.executed(policy.Cooperative, breaker),
		rivals: []rival{{name: "gobreaker", setUp: gobreakersOpen}},
	}))
}
