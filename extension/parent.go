package extension

import (
	"context"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
)

// Parent returns the object that the field of ctx belongs to, for fallbacks and keys of stale
// answers. T is what its resolvers take, such as *model.Order. It is not ok for root fields,
// which have none, and for an object of another type.
func Parent[T any](ctx context.Context) (parent T, ok bool) {
	fc := graphql.GetFieldContext(ctx)
	if fc == nil || fc.Parent == nil {
		return parent, false
	}
	if parent, ok = fc.Parent.Result.(T); ok {
		return parent, true
	}
	if v := reflect.ValueOf(fc.Parent.Result); v.Kind() == reflect.Pointer && !v.IsNil() { // to a list's item
		parent, ok = v.Elem().Interface().(T)
	}
	return parent, ok
}
