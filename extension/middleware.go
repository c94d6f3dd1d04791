package extension

import (
	"github.com/99designs/gqlgen/graphql"
)

// Middleware mode: the policy runs around gqlgen's next, whose context becomes that of the field's
// children, and which must not be read from while an abandoned attempt may write to it.

// resolve runs next under the policy and returns what gqlgen is to make of it.
func (r *resolution) resolve() (value any, err error) {
	if r.enforced {
		defer func() {
			if recovered := recover(); recovered != nil {
				value, err = r.panicked(recovered)
			}
		}()
	}
	value, err = r.run()
	a := r.end()
	if a != nil && r.abandon(a) {
		return r.abandoned(err)
	}
	if err == nil {
		if a != nil {
			a.revive()
		}
		if succeeded, ok := value.(*attempt); ok {
			succeeded.deliver()
			return succeeded.value, nil
		}
		return value, nil // the fallback's
	}
	value, err = r.failed(a, err)
	return value, r.op.extension.mapped(err)
}

// abandon cuts the attempt off from the field if it is still running. If returning null would
// make gqlgen read the variable that the attempt writes its context to, it first waits until
// that is written or the attempt is over.
func (r *resolution) abandon(a *attempt) bool {
	if a.written != nil {
		select {
		case <-a.end():
		case <-a.written:
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

// panicked ends a field under whose policy a function of the user's has panicked, a RecordIf or a
// fallback. gqlgen is to recover that, but if an attempt was being abandoned, it would report
// the panic with the variable that the attempt writes.
func (r *resolution) panicked(recovered any) (any, error) {
	a := r.end()
	if r.op.server.omitsPanicHandler || a == nil || !r.abandon(a) {
		panic(recovered)
	}
	return r.abandoned(graphql.GetOperationContext(r.ctx).RecoverFunc(r.ctx, recovered))
}
