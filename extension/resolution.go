package extension

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
)

// resolution is one field of one response on its way through its policy.
type resolution struct {
	ctx      context.Context // the field's
	op       *operation
	field    *field
	fc       *graphql.FieldContext
	next     graphql.Resolver // what an attempt calls: gqlgen's next, or the guarded resolver
	enforced bool
	guarded  bool // next is the resolver alone, and no attempt's context reaches gqlgen
	selected bool // fc is that of the field itself
	marked   bool // by MarkNonNull, before the first attempt

	stale *staleCall // nil: the field's values are not kept

	mu sync.Mutex
	// All below is guarded by mu.
	last  *attempt
	ended bool // no further attempt may touch gqlgen
}

func newResolution(ctx context.Context, op *operation, f *field, fc *graphql.FieldContext, next graphql.Resolver) *resolution {
	return &resolution{
		ctx: ctx, op: op, field: f, fc: fc, next: next,
		enforced: f.policy.Enforced(),
		selected: true,
		marked:   fc.NonNull,
	}
}

// run makes attempts, as the policy says. Where the value is not an *attempt, it is the
// fallback's.
func (r *resolution) run() (any, error) {
	ctx := r.ctx
	if r.field.kept != nil {
		r.stale = r.newStaleCall()
		ctx = context.WithValue(ctx, staleCallKey{}, r.stale)
	}
	value, err := r.field.policy.Run(ctx, policy.Call{
		Func:        r.attempt,
		NoRetry:     r.op.kind != ast.Query && !r.field.idempotent,
		AbandonEnds: !r.guarded,
		Budget:      r.op.scope.Load().budget(),
		Answered:    r.answered,
	})
	if r.stale != nil {
		r.learn(value, err)
	}
	return value, err
}

// attempt is what the policy calls.
func (r *resolution) attempt(ctx context.Context) (value any, err error) {
	a := &attempt{field: r.ctx, policy: ctx, op: r.op, fc: r.fc, guarded: r.guarded, bare: r.field.bare}
	if !r.guarded && r.field.takesNull && (r.field.nonNull || r.marked) {
		a.written = make(chan struct{})
	}
	if !r.begin(a) {
		return nil, context.Cause(ctx)
	}
	returned := false
	defer func() {
		a.finish()
		if !returned && !r.enforced {
			a.deliver() // beside the panic, which is on its way to gqlgen
		}
	}()
	if r.enforced {
		defer func() {
			if recovered := recover(); recovered != nil {
				value, err = nil, r.recovered(a, recovered)
			}
		}()
	}
	a.value, a.err = r.next(a)
	returned = true
	failure := a.err
	if r.guarded && (r.field.batch || r.op.server.isFinder(r.field.fieldKey)) {
		failure = r.batchFailure(a)
	}
	if failure != nil {
		return nil, r.failure(a, failure)
	}
	if own := a.responded(); own != nil && isNil(a.value) {
		if added := own.added(); added != nil {
			return nil, r.failure(a, &reportedError{added})
		}
	}
	return a, nil
}

// failure is what the attempt's err means. A batch has run under the attempt of one
// of its items, and the time that was up is that attempt's: a timeout for the other items too.
func (r *resolution) failure(a *attempt, err error) error {
	if r.guarded || !r.field.batch || a.policy.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, told := errors.AsType[*policy.Error](err); !told {
		p := r.field.policy
		return &policy.Error{Kind: policy.KindTimeout, Policy: p.Name(), Source: p.Source(), Cause: err}
	}
	return err
}

// begin makes a the last attempt. The one before it is abandoned if it is still running, as only a
// guarded one may be; otherwise its context ends, for gqlgen has no use for it any more. It reports
// false if the field has ended, or the attempt was abandoned before its goroutine got to run.
func (r *resolution) begin(a *attempt) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || a.policy.Err() != nil {
		return false
	}
	if r.last != nil && !r.last.abandon() {
		r.op.scope.Load().remove(r.last)
		r.last.release()
	}
	r.last, a.own = a, *r.fc
	return true
}

// end keeps further attempts from beginning, and returns the last one, if any has begun.
func (r *resolution) end() *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.last
}

// failed is what gqlgen is to make of the err that the run ended with, after a as the last
// attempt. It panics where gqlgen is to recover.
func (r *resolution) failed(a *attempt, err error) (any, error) {
	switch failed := err.(type) {
	case *policy.Error, *policy.FallbackError:
		if a == nil || a.err != err { // and so not the resolver's failure
			return nil, err
		}
	case *itemsError:
		err = a.err
	case *recoveredError:
		if r.op.server.omitsPanicHandler {
			panic(failed.raised)
		}
		err = failed.shown
	default:
		if _, added := errors.AsType[*reportedError](err); added { // also if the caller went before the next attempt
			err = nil // what was added is delivered
		}
	}
	if a == nil {
		return nil, err
	}
	a.deliver() // what the resolver reported beside its error
	return a.value, err
}

// recoveredError is a panic of a resolver that ran on a goroutine of the policy's.
type recoveredError struct {
	raised *policy.PanicError
	shown  error // what the server's recover function made of it
}

func (e *recoveredError) Error() string { return e.shown.Error() }

// Unwrap lets the policy see the panic.
func (e *recoveredError) Unwrap() []error { return []error{e.shown, e.raised} }

// recovered hands a panic to the server's recover function, on the goroutine and with the
// stack of the resolver. Generated without a panic handler, the server has none to hand to.
func (r *resolution) recovered(a *attempt, value any) error {
	failed := &recoveredError{raised: &policy.PanicError{Value: value, Stack: debug.Stack()}, shown: errors.New("internal system error")}
	if !r.op.server.omitsPanicHandler {
		if shown := graphql.GetOperationContext(r.ctx).RecoverFunc(a, value); shown != nil {
			failed.shown = shown
		}
	}
	return failed
}
