package gqlerrors

import (
	"math"
	"slices"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/errtree"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Convert returns the GraphQL error for an err whose chain holds a [*policy.Error], at any depth
// and in joins too; of several, the first that [errors.As] finds decides. The result is a new
// [*gqlerror.Error] on every call, for gqlgen writes path and location into it. It carries
// code, status and fixed message of the error's kind, and unwraps to err. Of a GraphQL error in
// the chain it takes over path and locations, and nothing else.
//
// Convert returns err itself if there is no policy error in it, if its kind is unknown, and if
// err holds a GraphQL error that has a code already, be it by an earlier Convert. Causes are
// not looked at: neither those of a policy error, nor what a fallback that failed by itself
// was given ([policy.FallbackError]).
//
// The errors of a [gqlerror.List] are converted one by one, into a new list if any changes.
func Convert(err error) error { return Answers(nil).Convert(err) }

// Convert is the package's Convert with these answers. What either of them has converted before
// keeps its code.
func (a Answers) Convert(err error) error {
	if list, ok := err.(gqlerror.List); ok {
		return a.convertList(list)
	}
	var found findings
	errtree.Walk(err, found.add)
	if found.failure == nil || found.coded {
		return err
	}
	answer, ok := a.of(found.failure.Kind)
	if !ok {
		return err
	}
	extensions := map[string]any{codeKey: answer.Code, statusKey: answer.HTTPStatus}
	if tellsWhen(found.failure.Kind) && found.failure.RetryAfter > 0 {
		extensions[retryAfterKey] = wholeSeconds(found.failure.RetryAfter)
	}
	return &gqlerror.Error{
		Err:        err,
		Message:    answer.Message,
		Path:       slices.Clone(found.path),
		Locations:  slices.Clone(found.locations),
		Extensions: extensions,
	}
}

// tellsWhen reports whether clients are told when to come back.
func tellsWhen(kind policy.ErrorKind) bool {
	return kind == policy.KindCircuitOpen || kind == policy.KindRateLimited
}

func (a Answers) convertList(list gqlerror.List) error {
	var converted gqlerror.List
	for i, element := range list {
		if element == nil {
			continue
		}
		if result, ok := a.Convert(element).(*gqlerror.Error); ok && result != element {
			if converted == nil {
				converted = slices.Clone(list)
			}
			converted[i] = result
		}
	}
	if converted == nil {
		return list
	}
	return converted
}

// findings are what decides how an error is converted.
type findings struct {
	failure   *policy.Error // the first; nil: none
	coded     bool          // a GraphQL error has a code
	path      ast.Path
	locations []gqlerror.Location
}

// add takes note of one error of a chain. It keeps [errtree.Walk] from descending to causes.
func (f *findings) add(err error) (descend bool) {
	switch err := err.(type) {
	case *policy.Error:
		f.fail(err)
		return false
	case *policy.FallbackError:
		if err != nil {
			errtree.Walk(err.Err, f.add)
		}
		return false
	case *gqlerror.Error:
		if err == nil {
			return false
		}
		f.coded = f.coded || isCoded(err.Extensions)
		if f.path == nil {
			f.path = err.Path
		}
		if f.locations == nil {
			f.locations = err.Locations
		}
	case gqlerror.List: // whose As says no more than its elements
	case interface{ As(target any) bool }:
		var failure *policy.Error
		if err.As(&failure) {
			f.fail(failure)
		}
	}
	return true
}

func (f *findings) fail(failure *policy.Error) {
	if f.failure == nil {
		f.failure = failure
	}
}

// wholeSeconds rounds a positive d up. More than fits a GraphQL Int is cut down to that.
func wholeSeconds(d time.Duration) int {
	seconds := d / time.Second
	if d%time.Second > 0 {
		seconds++
	}
	return int(min(seconds, math.MaxInt32))
}
