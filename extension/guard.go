package extension

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Guard mode: the policy runs around the resolver alone, inside of gqlgen's next. No attempt's
// context ever reaches gqlgen, so that an abandoned attempt has nothing to race with.

// Guarded is implemented by the resolvers that a generated Guard function returns. It tells the
// extension which fields it is to leave to their guards.
type Guarded interface {
	// GuardedFields returns the coordinates of the guarded fields, such as "Query.orders".
	GuardedFields() []string
}

// Guard runs resolve, the resolver of the field at coordinate, under the field's policy. It is
// called by the code that package schema/plugin generates.
//
// A field that turns out to have no policy is just resolved. Where the server does not use an
// [Extension], Guard fails: the field would lack its protection unnoticed.
func Guard[T any](ctx context.Context, coordinate string, resolve func(context.Context) (T, error)) (resolved T, _ error) {
	var r resolution
	if err := r.beginGuard(ctx, coordinate); err != nil {
		return resolved, err
	}
	if r.field == nil {
		return resolve(ctx)
	}
	r.Maker, r.Function = guards[T]{r.field}, resolve
	if !r.selected {
		r.Maker = guardsWithin[T]{r.field}
	}
	defer cutOff[T](&r.Call) // also where a function of the user's panics
	value, err := r.field.policy.Run(r.context(), &r.Call)
	return guarded[T](&r, value, err)
}

// guarded is what the resolver is to have returned, for what the call has.
func guarded[T any](r *resolution, value any, err error) (resolved T, _ error) {
	r.settle()
	last, begun := cutOff[T](&r.Call)
	if r.stale != nil {
		r.learn(begun, last, err)
	}
	switch {
	case err != nil:
		err = r.failed(begun, err)
		if begun != nil && begun == &last.attempt && (err == nil || r.Own()) {
			resolved = last.value
		}
		return resolved, r.mapped(err)
	case r.Own():
		last.deliver()
		return last.value, r.mapped(last.itemsError())
	}
	resolved, ok := value.(T) // the fallback's
	if !ok && value != nil {
		err = fmt.Errorf("%s: the fallback returned a %T where the resolver returns a %v", r.field, value, reflect.TypeFor[T]())
	}
	return resolved, r.mapped(err)
}

// cutOff keeps further attempts of the call from beginning, and returns the last one, and the last that
// has begun. One that is still running is abandoned, and nil is returned: what it returns later must
// not be looked at.
func cutOff[T any](call *policy.Call) (last *guardedAttempt[T], begun *attempt) {
	if last, _ = call.Last().(*guardedAttempt[T]); last == nil {
		return nil, nil
	}
	if begun = last.begun(); begun != nil && begun.abandon() {
		begun = nil
	}
	return last, begun
}

// guardedAttempt is an attempt at a guarded resolver.
type guardedAttempt[T any] struct {
	attempt
	resolve func(context.Context) (T, error)
	value   T
}

func (a *guardedAttempt[T]) result() any { return a.value }

// guards makes the attempts at a field with a guard. It is one pointer, and so becomes a
// [policy.Maker] without an allocation.
type guards[T any] struct{ *field }

func (g guards[T]) MakeAttempt(ctx context.Context, state, function any, last policy.Attempter) policy.Attempter {
	a := &guardedAttempt[T]{resolve: function.(func(context.Context) (T, error))}
	a.guarded = true
	if before, ok := last.(*guardedAttempt[T]); ok {
		a.prepare(ctx, state, g.field, &before.attempt)
	} else {
		a.prepare(ctx, state, g.field, nil)
	}
	return a
}

// guardsWithin makes the attempts at a field with a guard that is called within another field. It is a
// type of its own because a flag beside the pointer would cost every guarded field an allocation.
type guardsWithin[T any] struct{ *field }

func (g guardsWithin[T]) MakeAttempt(ctx context.Context, state, function any, last policy.Attempter) policy.Attempter {
	a := guards[T](g).MakeAttempt(ctx, state, function, last).(*guardedAttempt[T])
	if last == nil {
		a.leaveField()
	}
	return a
}

// Try implements [policy.Attempter].
func (a *guardedAttempt[T]) Try() (err error) {
	if !a.begin() {
		return context.Cause(a)
	}
	returned := false
	defer a.leave(&returned, &err)
	a.value, err = a.resolve(a)
	returned = true
	return a.failure(a, err)
}

// mapped is err as gqlgen is to report it, where that does not pass the field middleware: what
// entity finders and batches fail with does not.
func (r *resolution) mapped(err error) error {
	if r.selected && !r.field.batch {
		return err
	}
	items, ok := err.(graphql.BatchErrors) // which gqlgen must still find
	if !ok {
		return r.op.extension.mapped(err)
	}
	mapped := slices.Clone(items.Errors())
	for i, item := range mapped {
		mapped[i] = r.op.extension.mapped(item)
	}
	return graphql.BatchErrorList(mapped)
}

// beginGuard makes r the resolution of a guarded field. It stays without a field if that has no policy
// or runs under it already.
func (r *resolution) beginGuard(ctx context.Context, coordinate string) error {
	op := operationOf(ctx)
	if op != nil {
		op = op.ifOf(graphql.GetOperationContext(ctx))
	}
	if op == nil {
		return fmt.Errorf("%s is guarded, but runs outside of an operation of a server that uses the resilience extension", coordinate)
	}
	object, name, _ := strings.Cut(coordinate, ".")
	op, f := op.guarding(fieldKey{object, name})
	if f == nil {
		return nil
	}
	fc := graphql.GetFieldContext(ctx)
	if fc == nil { // called from Go, outside of all fields
		fc = &graphql.FieldContext{}
	}
	selected := isSelected(ctx, fc, f)
	if selected && isAttempt(ctx, fc) {
		return nil // the extension did not see the guard
	}
	r.begin(ctx, op, f, fc)
	r.guarded, r.selected = true, selected
	return nil
}

// isSelected reports whether it is the guarded field that gqlgen resolves, of which fc is then the
// context. Federation's entity finders, and resolvers that are called from Go, run within another
// field, or within an attempt at their own.
func isSelected(ctx context.Context, fc *graphql.FieldContext, f *field) bool {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok && a.guarded && fc == a.fieldContext() {
		return false
	}
	return fc.Object == f.object && fc.Field.Name == f.name
}

// leaveField gives the attempt a field context that is not the one of the field that the call is made
// in, which may make others at the same time.
func (a *attempt) leaveField() {
	own := &graphql.FieldContext{}
	if a.fc != nil {
		own = a.ownFieldContext()
	}
	a.fc, a.selected = own, false
}

// guarding returns the operation and the field as the extension that was registered first, of
// those that have a policy for it, knows them.
func (op *operation) guarding(key fieldKey) (by *operation, f *field) {
	for outer := op; outer != nil; outer = outer.outer {
		if found := outer.server.fields[key]; found != nil {
			by, f = outer, found
		}
	}
	if f == nil && op.server.isFinder(key) {
		return op, op.fieldOf(key) // without a policy, the operation's time ends it here alone
	}
	return by, f
}
