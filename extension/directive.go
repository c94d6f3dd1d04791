package extension

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// Directive does nothing but call next. It is for the Resilience field of DirectiveRoot, where
// code is generated without skip_runtime for the directive: the extension reads annotations
// from the schema, not at run time.
func Directive(ctx context.Context, obj any, next graphql.Resolver, preset, timeout *string, idempotent *bool) (any, error) {
	return next(ctx)
}
