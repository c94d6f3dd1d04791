package gqlerrors

import (
	"context"
	"errors"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/causes"
)

// Presenter returns an error presenter, for gqlgen's SetErrorPresenter, that converts each
// error as [Convert] does and hands the result to next. It catches what never comes back
// through a resolver's return value: errors added by graphql.AddError, those of batch
// resolvers, and those of federation's entities. next still reaches the causes with
// [errors.As], but the first GraphQL error that it finds is never one of them.
//
// A nil next presents as gqlgen does by default, but for the path of an error that has none,
// which is left empty. That may be one given to graphql.AddError with a GraphQL error among
// its causes, since gqlgen writes the path there; next can fill it in. Of a batch item's error
// with a GraphQL error among its causes, gqlgen hands on that cause alone: wrap such an error
// in a GraphQL error of your own.
func Presenter(next func(ctx context.Context, err error) *gqlerror.Error) func(ctx context.Context, err error) *gqlerror.Error {
	if next == nil {
		next = present
	}
	return func(ctx context.Context, err error) *gqlerror.Error {
		return next(ctx, causes.Hide(Convert(err)))
	}
}

// present is gqlgen's default presenter without the path.
func present(_ context.Context, err error) *gqlerror.Error {
	if presented, ok := errors.AsType[*gqlerror.Error](err); ok {
		return presented
	}
	return gqlerror.Wrap(err)
}
