package graph

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
)

// PresentError tells clients in words of the store's what the carrier's errors mean. Errors that
// carry a code, as those of policies do, are fit for clients already, whatever caused them;
// [gqlerrors.CodeInternal] is that of all others, the carrier's among them.
func PresentError(ctx context.Context, err error) *gqlerror.Error {
	presented := graphql.DefaultErrorPresenter(ctx, err)
	if code := presented.Extensions["code"]; code != nil && code != gqlerrors.CodeInternal {
		return presented
	}
	failed, ok := errors.AsType[*carrier.Error](err)
	if !ok {
		return presented
	}
	if failed.Refused() {
		return withCode(presented, "PARCEL_REFUSED", "The carrier does not take this parcel")
	}
	return withCode(presented, "CARRIER_FAILED", "The carrier failed")
}

func withCode(presented *gqlerror.Error, code, message string) *gqlerror.Error {
	return &gqlerror.Error{
		Err:        presented.Err,
		Message:    message,
		Path:       presented.Path,
		Locations:  presented.Locations,
		Extensions: map[string]any{"code": code},
	}
}
