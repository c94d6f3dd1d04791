package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// itemsQuery asks for n items with these fields.
func itemsQuery(n int, fields string) string {
	return fmt.Sprintf("{ items(n: %d) { %s } }", n, fields)
}

// asking runs the query, whose response has n items that look like this.
func asking(t *stand, s *server, query string, n int, item string) loop {
	want := `{"data":{"items":[` + strings.Join(slices.Repeat([]string{item}, n), ",") + `]}}`
	ctx, cancel := context.WithCancel(context.Background())
	t.cleanup(func() error { cancel(); return nil })
	return repeat(func() error {
		answer, err := s.answer(ctx, query)
		if err == nil && string(answer) != want {
			err = fmt.Errorf("the answer is %.200s", answer)
		}
		return err
	})
}

// newServers are the ways to make a server for queries.
type newServers func(*graph.Resolver) (*server, error)

// Servers that fields are compared on.
const (
	noExtension = "no extension"
	noOp        = "no-op interceptor"
)

func withoutExtension(r *graph.Resolver) (*server, error) { return newServer(r), nil }

func withNoOp(r *graph.Resolver) (*server, error) { return newIntercepted(r), nil }

// withPolicies has a bulkhead with room for all n fields at once.
func withPolicies(by hook, mode policy.TimeoutMode, n int) newServers {
	return func(r *graph.Resolver) (*server, error) {
		s, _, err := newProtected(r, by, roomFor(max(n, maxConcurrent), specOf(mode, fourStages...)), 0)
		return s, err
	}
}

// oneField asks for n items with one field each, all of which have a resolver that does nothing.
func oneField(field string, n int, with newServers) setUp { return oneFieldOf(field, n, with, idle) }

func oneFieldOf(field string, n int, with newServers, ask newDependency) setUp {
	return func(t *stand) (loop, error) {
		s, err := with(ask(t).resolver(n))
		if err != nil {
			return loop{}, err
		}
		return asking(t, s, itemsQuery(n, field), n, fmt.Sprintf(`{"%s":7}`, field)), nil
	}
}

// plainFields are ten fields of plain data of each of a hundred items.
func plainFields(with newServers) setUp {
	const items, each = 100, 10
	var aliased, answered []string
	for i := range each {
		aliased = append(aliased, fmt.Sprintf("id%d: id", i))
		answered = append(answered, fmt.Sprintf(`"id%d":"%s"`, i, graph.ID))
	}
	return func(t *stand) (loop, error) {
		s, err := with(idle(t).resolver(items))
		if err != nil {
			return loop{}, err
		}
		l := asking(t, s, itemsQuery(items, strings.Join(aliased, " ")), items, "{"+strings.Join(answered, ",")+"}")
		l.fields = items * each
		return l, nil
	}
}

// perField tells the figures of a query per field.
func perField(n int, set setUp) setUp {
	return func(t *stand) (loop, error) {
		l, err := set(t)
		l.fields = n
		return l, err
	}
}

// unguardedCases are fields without a policy, which the extension must not slow down.
func unguardedCases() []benchCase {
	with := withPolicies(middleware, policy.Enforced, 1)
	return []benchCase{
		{
			name:   "field/plain",
			ours:   plainFields(with),
			rivals: []rival{{name: noOp, setUp: plainFields(withNoOp), mostRatio: 1.02, noAllocs: true}},
		},
		{
			name:   "field/resolved",
			ours:   perField(1000, oneField("resolved", 1000, with)),
			rivals: []rival{{name: noOp, setUp: perField(1000, oneField("resolved", 1000, withNoOp)), mostRatio: 1.02, noAllocs: true}},
		},
	}
}

// growthCases tell whether a field of many costs more than one of few. So it may, by gqlgen's own doing: that
// is the last case.
func growthCases() []benchCase {
	const few, many = 100, 10_000
	grown := func(with func(n int) newServers) benchCase {
		return benchCase{
			ours:   perField(many, oneField("guarded", many, with(many))),
			rivals: []rival{{name: "100 fields", setUp: perField(few, oneField("guarded", few, with(few)))}},
		}
	}
	cases := underEach("growth/10000-fields", func(by hook, mode policy.TimeoutMode) benchCase {
		c := grown(func(n int) newServers { return withPolicies(by, mode, n) })
		c.rivals[0].mostRatio = 1.1
		return c
	})
	bare := grown(func(int) newServers { return withoutExtension })
	bare.name = "growth/10000-fields/no-extension"
	return append(cases, bare)
}

// interceptors are what can be put around the same fields without this library. Those that do
// nothing, or nothing but hand off, are the floor of all that does something.
func interceptors(n int, mode policy.TimeoutMode) []rival {
	all := []rival{
		{name: noOp, setUp: oneField("guarded", n, withNoOp)},
		{name: failsafeGo + " interceptor", setUp: oneField("guarded", n, func(r *graph.Resolver) (*server, error) {
			return newAround(r, throughExecutor(newRivalPolicies().compose(fourStages...))), nil
		})},
	}
	if mode == policy.Enforced {
		all = append(all, rival{name: handingOff + " interceptor", setUp: oneField("guarded", n, func(r *graph.Resolver) (*server, error) {
			return newAround(r, handOff), nil
		})})
	}
	return all
}

// queryCases are whole operations.
func queryCases() (cases []benchCase) {
	most := map[policy.TimeoutMode]float64{policy.Cooperative: 1.08, policy.Enforced: 1.35}
	for _, n := range []int{1, 100, 1000, 10_000} {
		cases = append(cases, underEach(fmt.Sprintf("query/%d/guarded", n), func(by hook, mode policy.TimeoutMode) benchCase {
			c := benchCase{
				ours:   oneField("guarded", n, withPolicies(by, mode, n)),
				rivals: []rival{{name: noExtension, setUp: oneField("guarded", n, withoutExtension)}},
			}
			switch n {
			case 1:
				c.mostBefore = 1.1
			case 1000:
				c.rivals[0].mostRatio = most[mode]
				c.rivals = append(c.rivals, interceptors(n, mode)...)
			}
			return c
		})...)
		if n == 1000 {
			cases = append(cases, underEach("query/1000/guarded-deep", func(by hook, mode policy.TimeoutMode) benchCase {
				return benchCase{
					ours:   oneFieldOf("guarded", n, withPolicies(by, mode, n), deep),
					rivals: []rival{{name: noExtension, setUp: oneFieldOf("guarded", n, withoutExtension, deep)}},
				}
			})...)
		}
		cases = append(cases, benchCase{
			name:   fmt.Sprintf("query/%d/unguarded", n),
			ours:   oneField("resolved", n, withPolicies(middleware, policy.Enforced, n)),
			rivals: []rival{{name: noOp, setUp: oneField("resolved", n, withNoOp)}},
		})
	}
	return cases
}
