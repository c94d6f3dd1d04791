package extension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/internal/funcname"
	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// fallback is what WithFallback gives a field.
type fallback struct {
	spec    *policy.FallbackSpec
	returns reflect.Type

	// What a [Plan] tells of it.
	name string   // of the function
	when []string // its conditions
}

func newFallback[T any](answer func(ctx context.Context, err error) (T, error), when conditions) fallback {
	return fallback{
		returns: reflect.TypeFor[T](),
		spec: &policy.FallbackSpec{
			Func:       func(ctx context.Context, err error) (any, error) { return answer(ctx, err) },
			FallbackIf: when.any(),
		},
		name: funcname.Of(answer), when: when.names(),
	}
}

// fallbackMistakes reports fallbacks that WithField gives too, and those of a type that their
// field can't hold.
func (e *Extension) fallbackMistakes(g *generated, fields []schema.Field) error {
	var errs []error
	for _, coordinate := range slices.Sorted(maps.Keys(e.fallbacks)) {
		if e.fields[coordinate].Spec.Fallback != nil {
			errs = append(errs, fmt.Errorf("WithFallback(%q): fallback is given twice, here and by WithField(%[1]q)", coordinate))
		}
	}
	for _, f := range fields {
		fallback, ok := e.fallbacks[f.Coordinate()]
		if !ok {
			continue
		}
		if problem, guessed := g.misfit(f, fallback); problem != "" && !guessed {
			errs = append(errs, errors.New(problem))
		}
	}
	return errors.Join(errs...)
}

// misfit tells of a fallback of a type that its field can't hold, and whether that is guessed.
func (g *generated) misfit(f schema.Field, by fallback) (problem string, guessed bool) {
	bound, result, fits := g.binding(f), g.fieldResult(f), fitsField
	returns := "the resolver"
	switch {
	case g.guarded[f.Coordinate()]:
		result, fits = bound.returns, fitsResolver
	case bound.source == sourceMethod && bound.guessed:
		returns = "the Go method that it looks bound to"
	case bound.source == sourceMethod:
		returns = "the Go method that it is bound to"
	}
	if result == nil || fits(by.returns, result) {
		return "", false
	}
	return fmt.Sprintf("WithFallback(%q): returns %v, but %s returns %v", f.Coordinate(), by.returns, returns, result), bound.guessed
}

// warnOfFallbackTypes warns of fallbacks whose type is wrong by a guess.
func (c *check) warnOfFallbackTypes() {
	for _, f := range c.fields {
		if by, ok := c.fallbacks[f.Coordinate()]; ok {
			if problem, guessed := c.generated.misfit(f, by); guessed {
				c.guess("%s", problem)
			}
		}
	}
}

// fitsField reports whether gqlgen may take a value of the type in place of a resolver's result.
func fitsField(fallback, result reflect.Type) bool {
	return fitsResolver(fallback, result) || fallback.Implements(reflect.TypeFor[graphql.Marshaler]())
}

// fitsResolver reports whether a resolver may return a value of the type as its result. Of an
// interface only the value itself can tell.
func fitsResolver(fallback, result reflect.Type) bool {
	switch {
	case fallback == result, fallback.Kind() == reflect.Interface:
		return true
	default:
		return result.Kind() == reflect.Interface && fallback.Implements(result)
	}
}
