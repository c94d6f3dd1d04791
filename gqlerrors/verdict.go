package gqlerrors

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/causes"
	"github.com/gqlresilience/gqlresilience/internal/errtree"
	"github.com/gqlresilience/gqlresilience/policy"
)

// verdict is what of an error clients may see.
type verdict struct {
	own    *gqlerror.Error // the first that is meant for them; nil: none
	marked []string        // the texts of plain ones that are
	hidden bool            // a part is not meant for them

	path      ast.Path // of the outermost GraphQL error that has one
	locations []gqlerror.Location
}

func judge(err error) *verdict {
	var v verdict
	v.walk(err)
	return &v
}

func (v *verdict) walk(err error) {
	if !errtree.Walk(err, v.add) {
		v.hidden = true // nobody has seen all of an error that wraps itself
	}
}

// markType is the type of [policy.AsClientError]'s mark.
var markType = reflect.TypeOf(policy.AsClientError(errors.ErrUnsupported))

// add judges one error of a chain. It keeps [errtree.Walk] from descending to what is judged
// with it, and to causes.
func (v *verdict) add(err error) (descend bool) {
	if reflect.TypeOf(err) == markType {
		v.marked = append(v.marked, err.Error())
		return false
	}
	switch err := err.(type) {
	case *gqlerror.Error:
		return err != nil && v.addGraphQL(err)
	case *policy.Error:
		// One of a known kind is here beside a code: otherwise Convert would have taken it.
		if err == nil || !isKnown(err.Kind) {
			v.hidden = true
		}
		return false
	case *policy.FallbackError:
		if err != nil {
			v.walk(err.Err)
		}
		return false
	case *graphql.InvalidNullError:
		v.marked = append(v.marked, err.Error())
		return false
	case gqlerror.List: // whose As says no more than its elements
	case interface{ As(target any) bool }:
		var own *gqlerror.Error
		if err.As(&own) && own != nil && !isWrapper(own) {
			return v.addGraphQL(own)
		}
	}
	if isLeaf(err) {
		v.hidden = true
	}
	return true
}

func (v *verdict) addGraphQL(err *gqlerror.Error) (descend bool) {
	if v.path == nil {
		v.path = err.Path
	}
	if v.locations == nil {
		v.locations = err.Locations
	}
	if isWrapper(err) {
		return true
	}
	if v.own == nil {
		v.own = err
	}
	return false
}

// isWrapper reports whether a GraphQL error says what it wraps and nothing else, as those that
// gqlgen makes of plain errors.
func isWrapper(err *gqlerror.Error) bool {
	if err.Err == nil || isCoded(err.Extensions) {
		return false
	}
	text := err.Err.Error()
	return err.Message == text ||
		err.Message == causes.Text(err.Err) ||
		text != err.Err.Error() || // asked again, for of what never says the same no message is known to be another
		isRepeated(err.Message, err.Err)
}

// isRepeated reports whether message is that of a GraphQL error in err's chain, whose Error says
// more.
func isRepeated(message string, err error) (repeated bool) {
	errtree.Walk(err, func(err error) (descend bool) {
		if below, ok := err.(*gqlerror.Error); ok && below != nil {
			repeated = repeated || below.Message == message
		}
		return !repeated
	})
	return repeated
}

// wrapped is what a GraphQL error only makes presentable.
func wrapped(err error) (bare error) {
	errtree.Walk(err, func(err error) (descend bool) {
		bare = err
		wrapper, ok := err.(*gqlerror.Error)
		return ok && wrapper != nil && isWrapper(wrapper)
	})
	return bare
}

// isLeaf reports whether err wraps nothing.
func isLeaf(err error) bool {
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return err.Unwrap() == nil
	case interface{ Unwrap() []error }:
		return len(err.Unwrap()) == 0
	default:
		return true
	}
}

func (v *verdict) forClients() bool {
	return !v.hidden && (v.own != nil || len(v.marked) > 0)
}

// shown is the err that was judged, as clients may see it.
func (v *verdict) shown(ctx context.Context, err error) *gqlerror.Error {
	message := strings.Join(v.marked, "\n")
	presentable, _ := err.(*gqlerror.Error)
	if v.own == nil {
		if presentable != nil && presentable.Message == message {
			return presentable
		}
		return v.located(ctx, &gqlerror.Error{Err: err, Message: message})
	}
	if presentable == v.own {
		return presentable
	}
	own := *v.own
	own.Err = err
	return v.located(ctx, &own)
}

// located writes path and locations of what was judged into err. Without a path it is that of
// ctx.
func (v *verdict) located(ctx context.Context, err *gqlerror.Error) *gqlerror.Error {
	err.Path, err.Locations = v.path, v.locations
	if err.Path == nil {
		err.Path = graphql.GetPath(ctx)
	}
	return err
}
