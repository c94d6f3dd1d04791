// Package causes keeps what led to a failure from being reported in its place.
package causes

import (
	"errors"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Hide returns an error that gqlgen reports as what err itself says. gqlgen reports the first
// [*gqlerror.Error] in a chain, and that may be the cause of a [*policy.Error], or what a
// fallback that failed by itself was given. Where nothing needs hiding, the result is err;
// otherwise it is a new [*gqlerror.Error] that unwraps to err. A [gqlerror.List], which gqlgen
// takes apart, is returned as it is.
func Hide(err error) error {
	if _, ok := err.(gqlerror.List); ok || err == nil {
		return err
	}
	reported, _ := errors.AsType[*gqlerror.Error](err)
	own := first(err)
	if own != nil {
		if own == reported {
			return err
		}
		shown := *own
		shown.Err = err
		return &shown
	}
	message := text(err)
	if reported == nil && message == err.Error() {
		return err
	}
	return &gqlerror.Error{Err: err, Message: message}
}

// first finds the first GraphQL error in a chain, in the order of [errors.As], that is not a
// cause.
func first(err error) *gqlerror.Error {
	switch err := err.(type) {
	case *gqlerror.Error:
		return err
	case *policy.Error:
		return nil
	case *policy.FallbackError:
		if err == nil {
			return nil
		}
		return first(err.Err)
	case interface{ Unwrap() error }:
		return first(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range err.Unwrap() {
			if found := first(err); found != nil {
				return found
			}
		}
	}
	return nil
}

// text is what an error says, without its cause.
func text(err error) string {
	switch err := err.(type) {
	case *policy.Error:
		bare := *err
		bare.Cause = nil
		return bare.Error()
	case *policy.FallbackError:
		return text(err.Err)
	default:
		return err.Error()
	}
}
