package gqlerrors

import (
	"context"
	"errors"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Presenter returns an error presenter, for gqlgen's SetErrorPresenter, that converts each
// error as [Convert] does and hands the result to next. It catches what never comes back
// through a resolver's return value: errors added by graphql.AddError, those of batch
// resolvers, and those of federation's entities. next still reaches the causes with
// [errors.As].
//
// A nil next presents as gqlgen does by default, but for the path of an error that has none,
// which is left empty.
func Presenter(next func(ctx context.Context, err error) *gqlerror.Error) func(ctx context.Context, err error) *gqlerror.Error {
	if next == nil {
		next = present
	}
	return func(ctx context.Context, err error) *gqlerror.Error {
		return next(ctx, Convert(err))
	}
}

// present is gqlgen's default presenter without the path.
func present(_ context.Context, err error) *gqlerror.Error {
	if presented, ok := errors.AsType[*gqlerror.Error](err); ok {
		return presented
	}
	return gqlerror.Wrap(err)
}
