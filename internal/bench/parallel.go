package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// together makes each of the calls from a goroutine of its own.
func together(calls []func() error) loop {
	return loop{calls: func(n int) error {
		var all sync.WaitGroup
		failures := make([]error, len(calls))
		for i, call := range calls {
			share := n / len(calls)
			if i < n%len(calls) {
				share++
			}
			all.Go(func() { failures[i] = repeat(call).calls(share) })
		}
		all.Wait()
		return errors.Join(failures...)
	}}
}

// callingTogether calls the guarded field of n items of one operation.
func callingTogether(t *stand, n int, s *server, r *graph.Resolver, call caller, check func(any, error) error) (loop, error) {
	o := begin(s, r)
	t.cleanup(o.end)
	calls := make([]func() error, n)
	for i := range calls {
		one, err := o.calling(call, check)
		if err != nil {
			return loop{}, err
		}
		calls[i] = one
	}
	return together(calls), nil
}

// protectedTogether is the guarded field from n goroutines, which share its breaker and bulkhead.
func protectedTogether(n int, by hook, mode policy.TimeoutMode) setUp {
	return func(t *stand) (loop, error) {
		d := idle(t)
		r := d.resolver(0)
		s, _, err := newProtected(r, by, specOf(mode, fourStages...), 0)
		if err != nil {
			return loop{}, err
		}
		return callingTogether(t, n, s, r, intercepting(s.intercept), d.check)
	}
}

// failsafedTogether is the resolver called through failsafe-go from n goroutines.
func failsafedTogether(n int) setUp {
	return func(t *stand) (loop, error) {
		d := idle(t)
		r := d.resolver(0)
		return callingTogether(t, n, newServer(r), r, throughExecutor(newRivalPolicies().compose(fourStages...)), d.check)
	}
}

// executedTogether is the call outside of GraphQL from n goroutines.
func executedTogether(n int, mode policy.TimeoutMode) setUp {
	return func(t *stand) (loop, error) {
		registry, err := newRegistry(specOf(mode, fourStages...), 0)
		if err != nil {
			return loop{}, err
		}
		d := idle(t)
		one, err := executing(t, registry, d.ask, d.check)
		return together(slices.Repeat([]func() error{one}, n)), err
	}
}

// failsafeStraightTogether is failsafe-go's call outside of GraphQL from n goroutines.
func failsafeStraightTogether(n int) setUp {
	return func(t *stand) (loop, error) {
		d := idle(t)
		one := straightly(t, throughExecutor(newRivalPolicies().compose(fourStages...)), d.ask, d.check)
		return together(slices.Repeat([]func() error{one}, n)), nil
	}
}

// parallelCases are calls from several goroutines at once: the time is that between the first's
// start and the last's end, by the number of all calls.
func parallelCases() (cases []benchCase) {
	for _, n := range []int{1, 2, 8, 64} {
		cases = append(cases, underEach(fmt.Sprintf("parallel/%d/field", n), func(by hook, mode policy.TimeoutMode) benchCase {
			c := benchCase{
				ours:   protectedTogether(n, by, mode),
				rivals: []rival{{name: failsafeGo, setUp: failsafedTogether(n)}},
			}
			if n == 64 {
				c.rivals = append(c.rivals, rival{name: "1 goroutine", setUp: protectedTogether(1, by, mode), mostRatio: 3})
			}
			return c
		})...)
		for _, m := range modes {
			c := benchCase{
				name:   fmt.Sprintf("parallel/%d/policy/%s", n, m.name),
				ours:   executedTogether(n, m.mode),
				rivals: []rival{{name: failsafeGo, setUp: failsafeStraightTogether(n)}},
			}
			if n == 64 {
				c.rivals = append(c.rivals, rival{name: "1 goroutine", setUp: executedTogether(1, m.mode), mostRatio: 3})
			}
			cases = append(cases, c)
		}
	}
	return cases
}
