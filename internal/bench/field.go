package main

import (
	"context"

	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// modes are the two timeout modes.
var modes = []struct {
	name string
	mode policy.TimeoutMode
}{{"cooperative", policy.Cooperative}, {"enforced", policy.Enforced}}

// A caller calls the resolver of the guarded field in the middle of an operation.
type caller func(ctx context.Context, resolve func(context.Context) (any, error)) (any, error)

// calling calls the dependency in the middle of an operation of the server.
func calling(t *stand, s *server, r *graph.Resolver, call caller, check func(any, error) error) (loop, error) {
	o := begin(s, r)
	t.cleanup(o.end)
	ctx, err := o.field("guarded")
	if err != nil {
		return loop{}, err
	}
	item := &graph.Item{}
	resolve := func(ctx context.Context) (any, error) { return s.resolvers.Item().Guarded(ctx, item) } // as in generated code
	return repeat(func() error { return check(call(ctx, resolve)) }), nil
}

// protected is the guarded field under a policy of the spec.
func protected(by hook, spec policy.Spec, ask func(*stand) *dependency) setUp {
	return func(t *stand) (loop, error) {
		d := ask(t)
		r := d.resolver(0)
		s, _, err := newProtected(r, by, spec)
		if err != nil {
			return loop{}, err
		}
		return calling(t, s, r, func(ctx context.Context, resolve func(context.Context) (any, error)) (any, error) {
			return s.intercept(ctx, resolve)
		}, d.check)
	}
}

// unprotected is the resolver on a server without extension, called by a rival.
func unprotected(call caller, ask func(*stand) *dependency) setUp {
	return func(t *stand) (loop, error) {
		d := ask(t)
		r := d.resolver(0)
		return calling(t, newServer(r), r, call, d.check)
	}
}

// failsafed is the resolver called through failsafe-go's stages.
func failsafed(ask func(*stand) *dependency, stages ...stage) setUp {
	return func(t *stand) (loop, error) {
		executor := failsafeOf(stages...)
		return unprotected(func(ctx context.Context, resolve func(context.Context) (any, error)) (any, error) {
			return failsafeCall(ctx, executor, resolve)
		}, ask)(t)
	}
}

// fieldCases are calls of a guarded field in the middle of an operation.
func fieldCases() (cases []benchCase) {
	for _, by := range []hook{middleware, guard} {
		for _, m := range modes {
			c := benchCase{
				name: "field/guarded/" + string(by) + "/" + m.name,
				ours: protected(by, specOf(m.mode, fourStages...), idle),
			}
			if m.mode == policy.Cooperative {
				c.mostAllocs = 4
				c.rivals = []rival{{name: failsafeGo, setUp: failsafed(idle, fourStages...), mostRatio: 0.12}}
			} else {
				c.mostAllocs = 6
				c.rivals = []rival{
					{name: failsafeGo, setUp: failsafed(idle, fourStages...), mostRatio: 0.50},
					{name: "hand-off", setUp: unprotected(handOff, idle), mostRatio: 1.8},
				}
			}
			cases = append(cases, c)
		}
	}
	return cases
}
