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
	value, err := p.Run(ctx, Call{Func: func(ctx context.Context) (any, error) { return fn(ctx) }})
	typed, ok := value.(T)
	if !ok && value != nil && err == nil {
		err = fmt.Errorf("policy %q: the fallback returned a %T where the call returns a %v", p.name, value, reflect.TypeFor[T]())
	}
	return typed, err
}

// Call is one run of a function as adapters, such as the gqlgen extension, make it. All other
// code calls [Execute].
type Call struct {
	// Func is called for each attempt, with a context that ends with the attempt.
	Func func(context.Context) (any, error)

	// NoRetry makes the first attempt the only one.
	NoRetry bool

	// AbandonEnds makes an abandoned attempt the last: no further attempt and no fallback
	// runs beside it, and Run returns its timeout at once.
	AbandonEnds bool

	// Budget is what the operation that the call belongs to has left. nil: that of the attempt
	// that the call is made in, if any.
	Budget *Budget

	// Answered is told the error that the fallback has answered for. nil: nobody.
	Answered func(err error)
}

// Run runs call.Func under p, as [Execute] does, for adapters.
func (p *Policy) Run(ctx context.Context, call Call) (any, error) {
	r := run{policy: p, plan: p.plan.Load(), call: call, caller: ctx}
	if r.outer, _ = ctx.Value(attemptKey{}).(*attemptContext); r.outer != nil && call.Budget == nil {
		r.call.Budget = r.outer.budget
	}
	return r.withFallback()
}
