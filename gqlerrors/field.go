package gqlerrors

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// fieldOf returns the context of the field that ctx belongs to, from within its lists too. nil:
// there is none.
func fieldOf(ctx context.Context) *graphql.FieldContext {
	fc := graphql.GetFieldContext(ctx)
	for fc != nil && fc.Field.Field == nil {
		fc = fc.Parent
	}
	return fc
}

// coordinate returns the field's coordinate, such as "Query.item", or "" without a field.
func coordinate(ctx context.Context) string {
	fc := fieldOf(ctx)
	if fc == nil {
		return ""
	}
	return fc.Object + "." + fc.Field.Name
}

// isAboutRequest reports whether gqlgen made err to tell the client what is wrong with its
// request, but as it makes any plain error presentable.
func isAboutRequest(ctx context.Context, err *gqlerror.Error) bool {
	fc := fieldOf(ctx)
	if fc == nil || err == nil {
		return false
	}
	if strings.HasPrefix(fc.Field.Name, "__") {
		return wrapped(err).Error() == "introspection disabled"
	}
	return isAboutArgument(fc, err)
}

// isAboutArgument reports whether err kept gqlgen from reading the field's arguments: there are
// none yet, and the error's path goes on from the field's with an argument's name.
func isAboutArgument(fc *graphql.FieldContext, err *gqlerror.Error) bool {
	if fc.Args != nil || fc.Field.Definition == nil {
		return false
	}
	path := fc.Path()
	if len(err.Path) <= len(path) || !slices.Equal(err.Path[:len(path)], path) {
		return false
	}
	name, ok := err.Path[len(path)].(ast.PathName)
	return ok && fc.Field.Definition.Arguments.ForName(string(name)) != nil
}
