package gqlerrors

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/causes"
)

// PresenterOption is an option of [Presenter].
type PresenterOption func(*presenter)

type presenter struct {
	next graphql.ErrorPresenterFunc
	mask *mask // nil: errors that are not known pass
}

// Presenter returns an error presenter, for gqlgen's SetErrorPresenter, that converts each
// error as [Convert] does and hands the result to next; nil presents as gqlgen does. It
// catches what never comes back through a resolver's return value: errors added by
// graphql.AddError, those of batch resolvers, and those of federation's entities. It answers
// as the extension's WithErrorCodes says. next still reaches the causes with [errors.As], but
// the first GraphQL error that it finds is never one of them.
//
// Of a batch item's error with a GraphQL error among its causes, gqlgen hands on that cause
// alone: wrap such an error in a GraphQL error of your own.
func Presenter(next func(ctx context.Context, err error) *gqlerror.Error, options ...PresenterOption) func(ctx context.Context, err error) *gqlerror.Error {
	p := &presenter{next: next}
	if next == nil {
		p.next = graphql.DefaultErrorPresenter
	}
	for _, option := range options {
		option(p)
	}
	return p.present
}

func (p *presenter) present(ctx context.Context, err error) *gqlerror.Error {
	shown := answersOf(ctx).Convert(err)
	if p.mask == nil {
		shown = causes.Hide(shown) // a mask hides more
	}
	if made, ok := shown.(*gqlerror.Error); ok && made != nil && made != err && made.Path == nil {
		made.Path = graphql.GetPath(ctx) // gqlgen may have written it into a cause
	}
	if p.mask == nil || err == nil {
		return p.next(ctx, shown)
	}
	return p.mask.present(ctx, shown, p.next)
}
