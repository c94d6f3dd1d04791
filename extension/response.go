package extension

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/ctxkey"
)

// response is the part of a response that one attempt makes: the errors it adds and the
// extensions it registers. They reach the client only if the attempt is the last and no
// fallback answers in its place.
type response struct {
	context context.Context // where gqlgen finds its response context

	mu     sync.Mutex
	errors []addedError // guarded by mu
}

// addedError is an error as it was given to graphql.AddError.
type addedError struct {
	ctx context.Context
	err error
}

func newResponse(oc *graphql.OperationContext) *response {
	r := &response{}
	r.context = graphql.WithResponseContext(context.Background(), r.keep, oc.RecoverFunc)
	return r
}

// keep is the response's error presenter. It only keeps the error, which the server's presenter
// is to see once, if at all.
func (r *response) keep(ctx context.Context, err error) *gqlerror.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, addedError{ctx, err})
	kept, _ := errors.AsType[*gqlerror.Error](err)
	return kept
}

// added returns the errors that were added so far, joined, or nil.
func (r *response) added() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, added := range r.errors {
		errs = append(errs, added.err)
	}
	return errors.Join(errs...)
}

// deliver adds the errors, each with what the context that it was added with holds, and the
// extensions to the response of field.
func (r *response) deliver(field context.Context) {
	r.mu.Lock()
	added := r.errors
	r.mu.Unlock()
	for _, added := range added {
		graphql.AddError(delivery{field, added.ctx}, added.err)
	}
	for key, value := range graphql.GetExtensions(r.context) {
		registerFirst(field, key, value)
	}
}

// delivery is the context of an error on its way to its field's response. It lives as long as
// the field, for the attempt that added the error has ended.
type delivery struct {
	context.Context // the field's
	added           context.Context
}

// Value finds what the context that the error was added with holds.
func (d delivery) Value(key any) any {
	if key == responseKey || key == ctxkey.Cancel {
		return d.Context.Value(key)
	}
	return d.added.Value(key)
}

// registerFirst registers an extension unless there is one of that key, at which gqlgen panics.
func registerFirst(ctx context.Context, key string, value any) {
	defer func() { _ = recover() }()
	graphql.RegisterExtension(ctx, key, value)
}

// forwarding returns a context whose response context hands errors on to field's, with field as
// their context: the one that they are added with has ended, and presenters are not to take
// that for the client's doing.
func forwarding(field context.Context) context.Context {
	hand := func(_ context.Context, err error) *gqlerror.Error {
		graphql.AddError(field, err)
		return nil
	}
	return graphql.WithResponseContext(context.Background(), hand, graphql.GetOperationContext(field).RecoverFunc)
}

// reportedError is the failure of a resolver that added errors and returned nil.
type reportedError struct{ error }

func (e *reportedError) Unwrap() error { return e.error }

// responseKey is the key under which gqlgen keeps the response context.
var responseKey = ctxkey.AskedFor(func(ctx context.Context) { graphql.GetErrors(ctx) })

// isNil reports whether a resolver's value is nil, typed or not.
func isNil(value any) bool {
	if value == nil {
		return true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func:
		return v.IsNil()
	default:
		return false
	}
}
