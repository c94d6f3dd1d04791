package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
)

var errDown = errors.New("connection refused")

// dependency is what the resolvers of a case call. Its answer tells that it was really asked.
type dependency struct {
	answer *int
	// resolve is the resolver of the guarded field.
	resolve func(context.Context) (*int, error)
}

// resolver returns one that has n items and asks the dependency.
func (d *dependency) resolver(n int) *graph.Resolver {
	r := graph.NewResolver(n)
	r.Guarded, r.Resolved = d.resolve, d.resolve
	return r
}

// check is an error unless the dependency's answer came back.
func (d *dependency) check(value any, err error) error {
	if err != nil {
		return err
	}
	if answer, ok := value.(*int); !ok || answer != d.answer {
		return fmt.Errorf("the answer is %v, not the dependency's", value)
	}
	return nil
}

// idle returns a dependency that does nothing.
func idle(*stand) *dependency {
	d := &dependency{answer: new(7)}
	d.resolve = func(context.Context) (*int, error) { return d.answer, nil }
	return d
}
