package extension

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
)

// resolution is one field of one response on its way through its policy. It lies on gqlgen's
// stack, so no attempt may point to it.
type resolution struct {
	policy.Call
	ctx      context.Context // the field's
	op       *operation
	field    *field
	fc       *graphql.FieldContext
	stale    *staleCall // nil: the field's values are not kept
	guarded  bool       // the policy runs around the resolver alone, and no attempt's context reaches gqlgen
	selected bool       // fc is that of the field itself
	marked   bool       // by MarkNonNull, before the first attempt
}

// begin makes r the resolution of the field, in place.
func (r *resolution) begin(ctx context.Context, op *operation, f *field, fc *graphql.FieldContext) {
	r.ctx, r.op, r.field, r.fc, r.marked = ctx, op, f, fc, fc.NonNull
	scope := op.scope.Load()
	r.State, r.Budget, r.Watcher = op, scope.budget(), &scope.watcher
	r.NoRetry = op.kind != ast.Query && !f.idempotent
}

// context is the context to make the call with.
func (r *resolution) context() context.Context {
	if r.field.kept == nil {
		return r.ctx
	}
	r.stale = r.newStaleCall()
	return context.WithValue(r.ctx, staleCallKey{}, r.stale)
}

// settle takes note of how the call has ended.
func (r *resolution) settle() {
	if err := r.Answered(); err != nil {
		r.answered(err)
	}
	if !r.Own() && r.selected && !r.field.enforced { // where attempts have no field context of their own
		r.fc.NonNull = r.marked
	}
}

// begun returns the last attempt that has begun, of those up to a, nil if there is none. No
// other one will begin.
func (a *attempt) begun() *attempt {
	for a != nil && a.forestall() {
		a = a.before()
	}
	return a
}

// prepare makes an attempt one at the field of ctx, after the last if there was one.
func (a *attempt) prepare(ctx context.Context, state any, f *field, last *attempt) {
	a.op, a.under = state.(*operation), f
	if f.enforced {
		a.state.Store(ready)
	}
	if last != nil {
		a.fc, a.selected, a.marked = last.fc, last.selected, last.marked
		a.demand().before = last
		if !f.enforced {
			a.fc.NonNull = a.marked
		}
		return
	}
	a.fc, a.selected = graphql.GetFieldContext(ctx), true
	a.marked = a.fc != nil && a.fc.NonNull
}

// leave is deferred by an attempt that has begun, and finishes it. If the resolver has not returned, it has
// panicked or ended its goroutine; a panic on a goroutine of the policy's becomes the attempt's err.
func (a *attempt) leave(returned *bool, err *error) {
	if *returned {
		a.finish()
		return
	}
	if !a.under.enforced {
		a.finish()
		a.deliver() // beside the panic, which is on its way to gqlgen
		return
	}
	recovered := recover()
	defer a.finish() // also if the server's recover function panics
	if recovered != nil {
		*err = a.recovered(recovered)
	}
}

// resulting keeps the value of an attempt.
type resulting interface{ result() any }

// failure is what the resolver's value and err mean to the policy.
func (a *attempt) failure(value resulting, err error) error {
	if f := a.under; a.guarded && (f.batch || f.finder) {
		err = a.batchFailure(value.result(), err)
	}
	if err != nil {
		return a.timeout(err)
	}
	if own := a.responded(); own != nil && isNil(value.result()) {
		if added := own.added(); added != nil {
			return a.timeout(&reportedError{added})
		}
	}
	return nil
}

// timeout is err, or the timeout that it means. A batch has run under the attempt of one
// of its items, and the time that was up is that attempt's: a timeout for the other items too.
func (a *attempt) timeout(err error) error {
	if a.guarded || !a.under.batch || a.Attempt.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, told := errors.AsType[*policy.Error](err); !told {
		p := a.under.policy
		return &siblingTimeout{&policy.Error{Kind: policy.KindTimeout, Policy: p.Name(), Source: p.Source(), Cause: err}}
	}
	return err
}

// siblingTimeout is the timeout of an attempt that waited for the batch in a sibling's.
type siblingTimeout struct{ timeout *policy.Error }

func (e *siblingTimeout) Error() string { return e.timeout.Error() }

func (e *siblingTimeout) Unwrap() error { return e.timeout }

// failed is what gqlgen is to make of the err that the call ended with, after a as the last
// attempt. It panics where gqlgen is to recover.
func (r *resolution) failed(a *attempt, err error) error {
	if !r.Own() {
		switch err.(type) {
		case *policy.Error, *policy.FallbackError:
			return err
		}
	}
	switch failed := err.(type) {
	case *siblingTimeout:
		return failed.timeout
	case *itemsError:
		err = failed.told
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
	if a != nil {
		a.deliver() // what the resolver reported beside its error
	}
	return err
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
func (a *attempt) recovered(value any) error {
	failed := &recoveredError{raised: &policy.PanicError{Value: value, Stack: debug.Stack()}, shown: errors.New("internal system error")}
	if !a.op.server.omitsPanicHandler {
		if shown := graphql.GetOperationContext(a.Caller()).RecoverFunc(a, value); shown != nil {
			failed.shown = shown
		}
	}
	return failed
}
