package policy

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
)

// Policy runs functions through its stages. Get one from [Registry.Preset], [Registry.New] or
// [Registry.Compose]; it may be kept for ever and is safe for concurrent use.
type Policy struct {
	name     string
	source   string
	registry *Registry
	plan     *atomic.Pointer[plan]

	// The causes that attempts' contexts are cancelled with, made once.
	attemptTimeUp, totalTimeUp *Error
}

func newPolicy(r *Registry, name, source string, plan *atomic.Pointer[plan]) *Policy {
	return &Policy{
		name: name, source: source, registry: r, plan: plan,
		attemptTimeUp: &Error{Kind: KindTimeout, Policy: name, Source: source},
		totalTimeUp:   &Error{Kind: KindTimeout, Policy: name, Source: source, Reason: "total"},
	}
}

// Name returns the preset's name, or the name that the policy was made with.
func (p *Policy) Name() string { return p.name }

// Source returns what runs under the policy, as events and errors tell it; "" if nobody said.
func (p *Policy) Source() string { return p.source }

// Enforced reports whether attempts run on a goroutine of their own, for adapters: see the
// timeout mode [Enforced].
func (p *Policy) Enforced() bool { return p.plan.Load().enforced }

// WithSource returns the same policy, with the same breaker, bulkhead and limiter, under
// which source is what runs: "Repricer.run".
func (p *Policy) WithSource(source string) *Policy {
	return newPolicy(p.registry, p.name, source, p.plan)
}

// Execute runs fn under p and returns what its last attempt returned, or what the fallback
// did. An error is fn's own, without the mark of [Permanent], or, where the policy itself
// failed the call, an [*Error]. A fallback whose answer is not a T is an error that names
// both types.
//
// fn gets a context that ends with the attempt. In the default, [Cooperative], mode fn runs
// on the caller's goroutine and is waited for. In [Enforced] mode it runs on another, and may
// still run when Execute has returned: it must not write to variables that it shares.
func Execute[T any](ctx context.Context, p *Policy, fn func(context.Context) (T, error)) (T, error) {
	call := Call{Maker: executions[T]{}, Function: fn}
	value, err := p.Run(ctx, &call)
	if call.Own() {
		return call.Last().(*execution[T]).value, err
	}
	typed, ok := value.(T)
	if !ok && value != nil && err == nil {
		err = fmt.Errorf("policy %q: the fallback returned a %T where the call returns a %v", p.name, value, reflect.TypeFor[T]())
	}
	return typed, err
}

// execution is an attempt at a call of Execute.
type execution[T any] struct {
	Attempt
	fn    func(context.Context) (T, error)
	value T
}

// executions makes them.
type executions[T any] struct{}

func (executions[T]) MakeAttempt(_ context.Context, _, function any, _ Attempter) Attempter {
	return &execution[T]{fn: function.(func(context.Context) (T, error))}
}

func (e *execution[T]) Try() (err error) {
	e.value, err = e.fn(&e.Attempt)
	return err
}
