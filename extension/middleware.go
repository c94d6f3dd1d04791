package extension

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Middleware mode: the policy runs around gqlgen's next, whose context becomes that of the field's
// children, and which must not be read from while an abandoned attempt may write to it.

// fieldAttempt is an attempt at gqlgen's next.
type fieldAttempt struct {
	attempt
	next  graphql.Resolver
	value any
}

// MakeAttempt implements [policy.Maker] for attempts of the middleware.
func (f *field) MakeAttempt(ctx context.Context, state, function any, last policy.Attempter) policy.Attempter {
	a := &fieldAttempt{next: function.(graphql.Resolver)}
	if before, ok := last.(*fieldAttempt); ok {
		a.prepare(ctx, state, f, &before.attempt)
	} else {
		a.prepare(ctx, state, f, nil)
	}
	if f.takesNull && (f.nonNull || a.marked) {
		a.notices = true
		a.demand().written = make(chan struct{})
	}
	return a
}

// Try implements [policy.Attempter].
func (a *fieldAttempt) Try() (err error) {
	if !a.begin() {
		return context.Cause(a)
	}
	returned := false
	defer a.leave(&returned, &err)
	a.value, err = a.next(a)
	returned = true
	if err == nil && a.demanded.Load() == nil {
		return nil
	}
	return a.failure(a, err)
}

func (a *fieldAttempt) result() any { return a.value }

// resolve runs next, of the field that fc is the context of, under the policy and returns what gqlgen
// is to make of it.
func resolve(ctx context.Context, op *operation, f *field, fc *graphql.FieldContext, next graphql.Resolver) (value any, err error) {
	var r resolution
	r.begin(ctx, op, f, fc)
	r.selected, r.AbandonEnds, r.Maker, r.Function = true, true, f, next
	if f.enforced {
		return r.runRecovering()
	}
	value, err = f.policy.Run(r.context(), &r.Call)
	return r.resolved(value, err)
}

// runRecovering runs a call whose attempts run on goroutines of their own.
func (r *resolution) runRecovering() (value any, err error) {
	defer r.panicked(&value, &err)
	value, err = r.field.policy.Run(r.context(), &r.Call)
	return r.resolved(value, err)
}

// resolved is what gqlgen is to make of what the call has returned.
func (r *resolution) resolved(value any, err error) (any, error) {
	r.settle()
	last, a := r.last()
	if r.stale != nil {
		r.learn(a, last, err)
	}
	switch {
	case a != nil && r.abandon(a):
		return r.abandoned(err)
	case err != nil:
		err = r.failed(a, err)
		value = nil
		if last != nil && &last.attempt == a && (err == nil || r.Own()) {
			value = last.value
		}
		return value, r.op.extension.mapped(err)
	case r.Own():
		a.deliver()
		return last.value, nil
	case a != nil:
		a.revive()
	}
	return value, nil // the fallback's
}

// last returns the call's last attempt, and the last that has begun, nil if there is none.
func (r *resolution) last() (last *fieldAttempt, begun *attempt) {
	if last, _ = r.Last().(*fieldAttempt); last == nil {
		return nil, nil
	}
	return last, last.begun()
}

// abandon cuts the attempt off from the field if it is still running. If returning null would
// make gqlgen read the variable that the attempt writes its context to, it first waits until
// that is written or the attempt is over.
func (r *resolution) abandon(a *attempt) bool {
	if a.notices {
		select {
		case <-a.returned():
		case <-a.demanded.Load().written:
		}
	}
	return a.abandon()
}

// abandoned ends a field whose attempt runs on: the error is added here, and what is returned
// keeps gqlgen from its variable.
func (r *resolution) abandoned(err error) (any, error) {
	graphql.GetOperationContext(r.ctx).Error(r.ctx, graphql.AddFieldLocationToError(r.ctx, r.op.extension.mapped(err)))
	switch {
	case r.field.noStream != nil:
		return r.field.noStream, nil
	case r.field.takesNull: // graphql.Null would be a value
		return nil, nil
	case r.marked && !r.field.nonNull:
		return graphql.RequiredNull, nil
	default:
		return graphql.Null, nil
	}
}

// panicked is deferred, and ends a field under whose policy a function of the user's panics, a RecordIf
// or a fallback. gqlgen is to recover that, but if an attempt was being abandoned, it would report
// the panic with the variable that the attempt writes.
func (r *resolution) panicked(value *any, err *error) {
	recovered := recover()
	if recovered == nil {
		return
	}
	_, a := r.last()
	if r.op.server.omitsPanicHandler || a == nil || !r.abandon(a) {
		panic(recovered)
	}
	*value, *err = r.abandoned(graphql.GetOperationContext(r.ctx).RecoverFunc(r.ctx, recovered))
}
