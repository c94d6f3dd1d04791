package main

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// modes are the two timeout modes.
var modes = []struct {
	name string
	mode policy.TimeoutMode
}{{"cooperative", policy.Cooperative}, {"enforced", policy.Enforced}}

var hooks = []hook{middleware, guard}

// A resolver is one as gqlgen knows it.
type resolver = func(context.Context) (any, error)

// A caller calls a resolver, in its own way.
type caller func(ctx context.Context, resolve resolver) (any, error)

// perOperation is how many calls of a resolver that derives contexts an operation makes. It keeps what
// hangs on them until its end: in one that never ends, they would be measured in a heap that grows with
// each. The price of a new operation is not seen among so many of them.
const perOperation = 1000

// calling calls the guarded field's resolver in the middle of an operation of the server.
func calling(t *stand, s *server, r *graph.Resolver, call caller, d *dependency) (loop, error) {
	if d.derives {
		return callingAnew(t, s, r, call, d.check)
	}
	return callingWithin(t, s, r, call, d.check)
}

// callingWithin makes all calls in one operation.
func callingWithin(t *stand, s *server, r *graph.Resolver, call caller, check func(any, error) error) (loop, error) {
	o := begin(s, r)
	t.cleanup(o.end)
	one, err := o.calling(call, check)
	return repeat(one), err
}

// callingAnew begins a new operation after each perOperation calls.
func callingAnew(t *stand, s *server, r *graph.Resolver, call caller, check func(any, error) error) (loop, error) {
	o := begin(s, r)
	t.cleanup(func() error { return o.end() }) // of the last
	one, err := o.calling(call, check)
	left := perOperation
	return repeat(func() (err error) {
		if left == 0 {
			if err = o.end(); err != nil {
				return err
			}
			o, left = begin(s, r), perOperation
			if one, err = o.calling(call, check); err != nil {
				return err
			}
		}
		left--
		return one()
	}), err
}

// calling returns a call of the guarded field of an item of its own.
func (o *operation) calling(call caller, check func(any, error) error) (func() error, error) {
	ctx, err := o.field("guarded")
	item := &graph.Item{}
	resolve := func(ctx context.Context) (any, error) { // as in generated code
		return o.server.resolvers.Item().Guarded(ctx, item)
	}
	return func() error { return check(call(ctx, resolve)) }, err
}

// intercepting calls as gqlgen does.
func intercepting(intercept graphql.FieldMiddleware) caller {
	return func(ctx context.Context, resolve resolver) (any, error) { return intercept(ctx, resolve) }
}

// protected is the guarded field under a policy of the spec.
func protected(by hook, spec policy.Spec, ask newDependency) setUp {
	return protectedBeside(0, by, spec, ask)
}

// protectedBeside is protected with other presets in the registry.
func protectedBeside(others int, by hook, spec policy.Spec, ask newDependency) setUp {
	return func(t *stand) (loop, error) {
		d := ask(t)
		r := d.resolver(0)
		s, _, err := newProtected(r, by, spec, others)
		if err != nil {
			return loop{}, err
		}
		return calling(t, s, r, intercepting(s.intercept), d)
	}
}

// unprotected is the resolver on a server without extension, called by a rival.
func unprotected(call caller, ask newDependency) setUp {
	return func(t *stand) (loop, error) {
		d := ask(t)
		r := d.resolver(0)
		return calling(t, newServer(r), r, call, d)
	}
}

// underEach makes a case for each hook and timeout mode.
func underEach(name string, make func(by hook, mode policy.TimeoutMode) benchCase) (cases []benchCase) {
	for _, by := range hooks {
		for _, m := range modes {
			c := make(by, m.mode)
			c.name = name + "/" + string(by) + "/" + m.name
			cases = append(cases, c)
		}
	}
	return cases
}

// fieldCases are calls of a guarded field in the middle of an operation.
func fieldCases() []benchCase {
	cases := underEach("field/guarded", func(by hook, mode policy.TimeoutMode) benchCase {
		c := fieldCase(by, mode, idle)
		if mode == policy.Cooperative {
			c.mostAllocs, c.rivals[0].mostRatio = 4, 0.12
		} else {
			c.mostAllocs, c.rivals[0].mostRatio, c.rivals[1].mostRatio = 6, 0.50, 1.8
		}
		return c
	})
	for _, by := range hooks {
		cases = append(cases, benchCase{
			name:   "field/untimed/" + string(by),
			ours:   protected(by, specOf(policy.Cooperative, untimed...), idle),
			rivals: []rival{{name: failsafeGo, setUp: failsafed(idle, untimed...)}},
		})
	}
	cases = append(cases, stageCases()...)
	for _, d := range []struct {
		name string
		ask  newDependency
	}{{"with-cancel", cancels}, {"with-timeout", deadlines}, {"http", overHTTP}} {
		cases = append(cases, underEach("field/"+d.name, func(by hook, mode policy.TimeoutMode) benchCase {
			return fieldCase(by, mode, d.ask)
		})...)
	}
	return append(cases, underEach("field/retried", func(by hook, mode policy.TimeoutMode) benchCase {
		return benchCase{
			ours: protected(by, tolerant(specOf(mode, fourStages...)), flaky),
			rivals: []rival{{name: failsafeGo, setUp: func(t *stand) (loop, error) {
				policies := newRivalPolicies()
				policies.breaker = rivalBreaker(window)
				return unprotected(throughExecutor(policies.compose(fourStages...)), flaky)(t)
			}}},
		}
	})...)
}

// fieldCase has the four stages, and those rivals that do the same.
func fieldCase(by hook, mode policy.TimeoutMode, ask newDependency) benchCase {
	c := benchCase{
		ours:   protected(by, specOf(mode, fourStages...), ask),
		rivals: []rival{{name: failsafeGo, setUp: failsafed(ask, fourStages...)}},
	}
	if mode == policy.Enforced {
		c.rivals = append(c.rivals, rival{name: handingOff, setUp: unprotected(handOff, ask)})
	}
	return c
}

// stageCases have one stage each.
func stageCases() []benchCase {
	cases := underEach("field/only-timeout", func(by hook, mode policy.TimeoutMode) benchCase {
		return benchCase{
			ours:   protected(by, specOf(mode, timeout), idle),
			rivals: []rival{{name: failsafeGo, setUp: failsafed(idle, timeout)}},
		}
	})
	for _, s := range []stage{retry, breaker, bulkhead, rateLimit} {
		for _, by := range hooks {
			cases = append(cases, benchCase{
				name:   "field/only-" + string(s) + "/" + string(by),
				ours:   protected(by, specOf(policy.Cooperative, s), idle),
				rivals: []rival{{name: failsafeGo, setUp: failsafed(idle, s)}},
			})
		}
	}
	return cases
}
