package main

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/policy"
)

// intercepted is a call of the field interceptor alone, for a field without a policy.
func intercepted(field string, with newServers) setUp {
	return func(t *stand) (loop, error) {
		d := idle(t)
		r := d.resolver(0)
		s, err := with(r)
		if err != nil {
			return loop{}, err
		}
		o := begin(s, r)
		t.cleanup(o.end)
		ctx, err := o.field(field)
		if err != nil {
			return loop{}, err
		}
		if fc := graphql.GetFieldContext(ctx); fc.IsResolver != (field == "resolved") {
			return loop{}, errors.New("the field is not what it is taken for")
		}
		resolve := func(context.Context) (any, error) { return d.answer, nil }
		return repeat(func() error { return d.check(s.intercept(ctx, resolve)) }), nil
	}
}

// interceptCases tell where the time goes that fields without a policy may lose. Next to all that
// gqlgen does for a field it is little.
func interceptCases() (cases []benchCase) {
	for _, field := range []string{"id", "resolved"} {
		cases = append(cases, benchCase{
			name:   "intercept/" + field,
			ours:   intercepted(field, withPolicies(middleware, policy.Enforced, 1)),
			rivals: []rival{{name: noOp, setUp: intercepted(field, withNoOp)}},
		})
	}
	return cases
}
