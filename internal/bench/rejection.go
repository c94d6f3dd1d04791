package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/failsafe-go/failsafe-go"
	failsafebulkhead "github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/policy"
)

// A gate lets no call through.
type gate struct {
	name   string
	reason error
	adapt  func(policy.Spec) policy.Spec
	shut   func(*stand, *policy.Registry) error

	rivalReason error
	shutRival   func(*rivalPolicies)
}

var openBreaker = gate{
	name:   "open-breaker",
	reason: policy.ErrCircuitOpen,
	adapt:  func(spec policy.Spec) policy.Spec { return spec },
	shut: func(_ *stand, registry *policy.Registry) error {
		opened, ok := registry.CircuitBreaker(preset)
		if !ok {
			return errors.New("the preset has no breaker")
		}
		opened.Trip()
		return nil
	},
	rivalReason: circuitbreaker.ErrOpen,
	shutRival:   func(p *rivalPolicies) { p.breaker.Open() },
}

var fullBulkhead = gate{
	name:        "full-bulkhead",
	reason:      policy.ErrBulkheadFull,
	adapt:       func(spec policy.Spec) policy.Spec { return roomFor(1, spec) },
	shut:        fill,
	rivalReason: failsafebulkhead.ErrFull,
	shutRival: func(p *rivalPolicies) {
		p.bulkhead = failsafebulkhead.New[any](1)
		p.bulkhead.TryAcquirePermit()
		p.breaker = circuitbreaker.NewBuilder[any]().HandleErrors(errDown).Build() // which would count the rejections
	},
}

// fill takes the only slot of the preset's bulkhead.
func fill(t *stand, registry *policy.Registry) error {
	holder, err := registry.New("holder", policy.Spec{Bulkhead: &policy.BulkheadSpec{Name: new(preset)}})
	if err != nil {
		return err
	}
	taken, leave, left := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := policy.Execute(context.Background(), holder, func(context.Context) (any, error) {
			close(taken)
			<-leave
			return nil, nil
		})
		left <- err
	}()
	t.cleanup(func() error { close(leave); return <-left })
	<-taken
	return nil
}

// rejected checks that a call was rejected for the reason.
func rejected(reason error) func(any, error) error {
	return func(value any, err error) error {
		if answer, _ := value.(*int); answer != nil || !errors.Is(err, reason) {
			return fmt.Errorf("the call was not rejected with %q: %v, %v", reason, value, err)
		}
		return nil
	}
}

// field is the guarded field behind the gate.
func (g gate) field(by hook, mode policy.TimeoutMode, options ...extension.Option) setUp {
	return func(t *stand) (loop, error) {
		r := untouched(t).resolver(0)
		s, registry, err := newProtected(r, by, g.adapt(specOf(mode, fourStages...)), 0, options...)
		if err != nil {
			return loop{}, err
		}
		if err := g.shut(t, registry); err != nil {
			return loop{}, err
		}
		return callingWithin(t, s, r, intercepting(s.intercept), rejected(g.reason))
	}
}

// rivalExecutor is failsafe-go with its gate shut.
func (g gate) rivalExecutor() failsafe.Executor[any] {
	policies := newRivalPolicies()
	policies.retry = retryNothingRejected()
	g.shutRival(&policies)
	return policies.compose(fourStages...)
}

// rivalField is the resolver behind failsafe-go's gate.
func (g gate) rivalField(t *stand) (loop, error) {
	r := untouched(t).resolver(0)
	return callingWithin(t, newServer(r), r, throughExecutor(g.rivalExecutor()), rejected(g.rivalReason))
}

// rejectionCases are calls that never reach the resolver. What they cost beyond the policy's own,
// which is bounded, is making a GraphQL error of its error for the client; unmapped, gqlgen does that.
func rejectionCases() (cases []benchCase) {
	for _, g := range []gate{openBreaker, fullBulkhead} {
		cases = append(cases, underEach("field/"+g.name, func(by hook, mode policy.TimeoutMode) benchCase {
			return benchCase{
				ours:   g.field(by, mode),
				rivals: []rival{{name: failsafeGo, setUp: g.rivalField}},
			}
		})...)
		cases = append(cases, underEach("field/"+g.name+"-unmapped", func(by hook, mode policy.TimeoutMode) benchCase {
			return benchCase{
				ours:   g.field(by, mode, extension.WithoutErrorMapping()),
				rivals: []rival{{name: failsafeGo, setUp: g.rivalField}},
			}
		})...)
	}
	return cases
}

// limit bounds what a rejection by an open breaker may cost.
func (g gate) limit(c benchCase) benchCase {
	if g.reason == policy.ErrCircuitOpen {
		c.mostNs, c.mostAllocs = 100, 1
	}
	return c
}
