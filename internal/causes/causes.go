// Package causes keeps what led to a failure from being reported in its place.
package causes

import (
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/errtree"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Hide returns an error that gqlgen reports as what err itself says. gqlgen reports the first
// [*gqlerror.Error] in a chain, and that may be the cause of a [*policy.Error], or what a
// fallback that failed by itself was given. Where nothing needs hiding, the result is err;
// otherwise it is a new [*gqlerror.Error] that unwraps to err. A [gqlerror.List], which gqlgen
// takes apart, is returned as it is. Of an error that wraps itself gqlgen would never find what to
// report: there is always a new one.
func Hide(err error) error {
	if _, ok := err.(gqlerror.List); ok || err == nil {
		return err
	}
	reported, _ := errtree.As[*gqlerror.Error](err)
	own, whole := first(err)
	if own != nil {
		if own == reported {
			return err
		}
		shown := *own
		shown.Err = err
		return &shown
	}
	message := Text(err)
	if reported == nil && whole && message == err.Error() {
		return err
	}
	return &gqlerror.Error{Err: err, Message: message}
}

// first finds the first GraphQL error in a chain, in the order of [errors.As], that is not a
// cause. It is not whole if err wraps itself.
func first(err error) (found *gqlerror.Error, whole bool) {
	whole = errtree.Walk(err, func(err error) (descend bool) {
		if found != nil {
			return false
		}
		switch err := err.(type) {
		case *gqlerror.Error:
			found = err
		case *policy.Error:
		case *policy.FallbackError:
			if err != nil {
				found, _ = first(err.Err)
			}
		default:
			return true
		}
		return false
	})
	return found, whole
}

// Text is what an error says, without its cause.
func Text(err error) string {
	switch err := err.(type) {
	case *policy.Error:
		bare := *err
		bare.Cause = nil
		return bare.Error()
	case *policy.FallbackError:
		return Text(err.Err)
	default:
		return err.Error()
	}
}
