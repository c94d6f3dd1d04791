package extension

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
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
func Guard[T any](ctx context.Context, coordinate string, resolve func(context.Context) (T, error)) (T, error) {
	r, err := newGuard(ctx, coordinate)
	if err != nil {
		var none T
		return none, err
	}
	if r == nil {
		return resolve(ctx)
	}
	r.next = func(ctx context.Context) (any, error) { return resolve(ctx) }
	value, err := r.guard()
	typed, ok := value.(T)
	if !ok && value != nil && err == nil {
		err = fmt.Errorf("%s: the fallback returned a %T where the resolver returns a %v", coordinate, value, reflect.TypeFor[T]())
	}
	return typed, r.mapped(err)
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

// newGuard returns the resolution of a guarded field, nil if it has no policy or runs under it
// already.
func newGuard(ctx context.Context, coordinate string) (*resolution, error) {
	op := operationOf(ctx)
	if op != nil {
		op = op.ifOf(graphql.GetOperationContext(ctx))
	}
	if op == nil {
		return nil, fmt.Errorf("%s is guarded, but runs outside of an operation of a server that uses the resilience extension", coordinate)
	}
	object, name, _ := strings.Cut(coordinate, ".")
	op, f := op.guarding(fieldKey{object, name})
	if f == nil {
		return nil, nil
	}
	fc := graphql.GetFieldContext(ctx)
	if fc == nil { // called from Go, outside of all fields
		fc = &graphql.FieldContext{}
	}
	r := newResolution(ctx, op, f, fc, nil)
	r.guarded = true
	switch r.selected = r.isSelected(); {
	case !r.selected:
		copied := *fc // of the field that the call is made in, which may make others at the same time
		r.fc = &copied
	case isAttempt(ctx, fc):
		return nil, nil // the extension did not see the guard
	}
	return r, nil
}

// isSelected reports whether it is the guarded field that gqlgen resolves, of which fc is then the
// context. Federation's entity finders, and resolvers that are called from Go, run within another
// field, or within an attempt at their own.
func (r *resolution) isSelected() bool {
	if a, ok := r.ctx.Value(attemptKey{}).(*attempt); ok && a.guarded && r.fc == &a.own {
		return false
	}
	return r.fc.Object == r.field.object && r.fc.Field.Name == r.field.name
}

// guarding returns the operation and the field as the extension that was registered first, of
// those that have a policy for it, knows them.
func (op *operation) guarding(key fieldKey) (by *operation, f *field) {
	if op.server.isFinder(key) {
		by, f = op, op.fieldOf(key) // without a policy, the operation's time ends it here alone
	}
	for ; op != nil; op = op.outer {
		if found := op.server.fields[key]; found != nil {
			by, f = op, found
		}
	}
	return by, f
}

// guard runs the resolver under the policy and returns what the resolver is to have returned.
func (r *resolution) guard() (any, error) {
	defer r.cutOff() // where a function of the user's panics
	value, err := r.run()
	a := r.cutOff()
	if err != nil {
		return r.failed(a, err)
	}
	if succeeded, ok := value.(*attempt); ok {
		succeeded.deliver()
		return succeeded.value, succeeded.err // of items of a batch
	}
	return value, nil // the fallback's
}

// cutOff keeps further attempts from beginning, and returns the last one. One that is still
// running is abandoned, and nil is returned: what it returns later must not be looked at.
func (r *resolution) cutOff() *attempt {
	if a := r.end(); a != nil && !a.abandon() {
		return a
	}
	return nil
}
