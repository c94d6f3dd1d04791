package main

import (
	"context"
	"errors"
	"runtime"
	"time"

	failsafebulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	failsafetimeout "github.com/failsafe-go/failsafe-go/timeout"

	"github.com/gqlresilience/gqlresilience/policy"
)

// inUse is the memory that the heap's live objects and all stacks take.
func inUse() float64 {
	var m runtime.MemStats
	runtime.GC() // twice: what pools still hold goes with the second one
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// atOnce is how many calls wait for their dependency at once.
const atOnce = 10_000

// stuck answers when it is let go of.
type stuck struct {
	dependency
	reached chan struct{}
	release chan struct{}
}

func newStuck() *stuck {
	d := &stuck{dependency: dependency{answer: new(7)}}
	d.ask = func(context.Context) (*int, error) {
		d.reached <- struct{}{}
		<-d.release
		return d.answer, nil
	}
	return d
}

// held measures what a call holds while its dependency does not answer.
func (d *stuck) held(calls loop) (float64, error) {
	d.reached, d.release = make(chan struct{}), make(chan struct{})
	ends := make(chan error, atOnce)
	before := inUse()
	for range atOnce {
		go func() { ends <- calls.calls(1) }()
	}
	for range atOnce {
		select {
		case <-d.reached:
		case err := <-ends:
			return 0, errors.Join(errors.New("a call did not reach the dependency"), err)
		}
	}
	after := inUse()
	close(d.release)
	var failed error
	for range atOnce {
		failed = errors.Join(failed, <-ends)
	}
	return (after - before) / atOnce, failed
}

// inFlight measures what a call holds while it waits for the dependency that set is given.
func inFlight(set func(newDependency) setUp) setUp {
	return func(t *stand) (loop, error) {
		d := newStuck()
		l, err := set(func(*stand) *dependency { return &d.dependency })(t)
		if err != nil {
			return loop{}, err
		}
		_, err = d.held(l) // makes the descriptors of goroutines, which the runtime keeps
		return loop{held: func() (float64, error) { return d.held(l) }}, err
	}
}

// patient has the four stages, with time and room for calls that are to be looked at while they run.
func patient(mode policy.TimeoutMode) policy.Spec {
	spec := roomFor(atOnce, specOf(mode, fourStages...))
	spec.Timeout.Duration = new(patience)
	return spec
}

const patience = time.Minute

// patientRival is failsafe-go likewise.
func patientRival(ask newDependency) setUp {
	return func(t *stand) (loop, error) {
		policies := newRivalPolicies()
		policies.bulkhead = failsafebulkhead.New[any](atOnce)
		policies.timeout = failsafetimeout.New[any](patience)
		return unprotected(throughExecutor(policies.compose(fourStages...)), ask)(t)
	}
}

// directly calls the resolver.
func directly(ctx context.Context, resolve resolver) (any, error) { return resolve(ctx) }

// kept measures by how much the heap has grown after a million calls or fields, for each.
func kept(set setUp) setUp {
	const million = 1_000_000
	return func(t *stand) (loop, error) {
		l, err := set(t)
		if err != nil {
			return loop{}, err
		}
		// What is made once is made now.
		return loop{held: func() (float64, error) {
			before := inUse()
			err := l.calls(million / max(1, l.fields))
			return (inUse() - before) / million, err
		}}, l.calls(1)
	}
}

// next to nothing, in bytes per call: a pointer in each would be more.
const nothing = 1

// untilTheEnd is what an operation keeps of an attempt whose resolver derives a context, for whoever may wait for
// that still.
const untilTheEnd = 1000

// inOneOperation has all calls made in one operation, even if that keeps something of each.
func inOneOperation(ask newDependency) newDependency {
	return func(t *stand) *dependency {
		d := ask(t)
		d.derives = false
		return d
	}
}

// memoryCases measure memory in place of time.
func memoryCases() []benchCase {
	cases := underEach("memory/in-flight", func(by hook, mode policy.TimeoutMode) benchCase {
		return benchCase{
			ours: inFlight(func(ask newDependency) setUp { return protected(by, patient(mode), ask) }),
			rivals: []rival{
				{name: failsafeGo, setUp: inFlight(patientRival)},
				{name: "bare goroutine", setUp: inFlight(func(ask newDependency) setUp { return unprotected(directly, ask) })},
				{name: handingOff, setUp: inFlight(func(ask newDependency) setUp { return unprotected(handOff, ask) })},
			},
			rounds: 3,
		}
	})
	for _, d := range []struct {
		name     string
		ask      newDependency
		mostKept float64
	}{{"idle", idle, nothing}, {"with-cancel", cancels, untilTheEnd}} {
		for _, m := range modes {
			cases = append(cases, benchCase{
				name:      "memory/million/policy/" + d.name + "/" + m.name,
				ours:      kept(executed(specOf(m.mode, fourStages...), d.ask)),
				mostBytes: nothing,
				rounds:    1,
			})
		}
		cases = append(cases, underEach("memory/million/one-operation/"+d.name, func(by hook, mode policy.TimeoutMode) benchCase {
			return benchCase{ours: kept(protected(by, specOf(mode, fourStages...), inOneOperation(d.ask))), mostBytes: d.mostKept, rounds: 1}
		})...)
	}
	return append(cases, underEach("memory/million/queries/with-cancel", func(by hook, mode policy.TimeoutMode) benchCase {
		const n = 1000
		query := perField(n, oneFieldOf("guarded", n, withPolicies(by, mode, n), cancels))
		return benchCase{ours: kept(query), mostBytes: nothing, rounds: 1}
	})...)
}
