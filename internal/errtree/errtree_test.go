package errtree_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/internal/errtree"
)

// link is an error that wraps one other, or none.
type link struct {
	name string
	next error
}

func (l *link) Error() string { return l.name }
func (l *link) Unwrap() error { return l.next }

// fork is an error that wraps several, some of which may be nil.
type fork []error

func (f fork) Error() string   { return "fork" }
func (f fork) Unwrap() []error { return f }

func TestWalkVisitsInTheOrderOfErrorsAs(t *testing.T) {
	leaf := errors.New("leaf")
	for behaviour, row := range map[string]struct {
		err    error
		closed string // beneath which Walk is not to look
		want   []string
	}{
		"no error":             {nil, "", nil},
		"one error":            {leaf, "", []string{"leaf"}},
		"a chain":              {&link{"a", &link{"b", leaf}}, "", []string{"a", "b", "leaf"}},
		"a chain that ends":    {&link{"a", &link{"b", nil}}, "", []string{"a", "b"}},
		"joined errors":        {errors.Join(&link{"a", leaf}, leaf), "", []string{"a\nleaf", "a", "leaf", "leaf"}},
		"forks within forks":   {fork{&link{"a", fork{leaf, &link{"b", nil}}}, &link{"c", nil}}, "", []string{"fork", "a", "fork", "leaf", "b", "c"}},
		"a fork of nothing":    {fork{}, "", []string{"fork"}},
		"nil in a fork":        {fork{nil, leaf, nil}, "", []string{"fork", "leaf"}},
		"a chain closed":       {&link{"a", &link{"b", leaf}}, "a", []string{"a"}},
		"one of a fork closed": {fork{&link{"a", leaf}, &link{"b", leaf}}, "a", []string{"fork", "a", "b", "leaf"}},
		"a fork closed":        {&link{"a", fork{leaf}}, "fork", []string{"a", "fork"}},
	} {
		t.Run(behaviour, func(t *testing.T) {
			var visited []string
			errtree.Walk(row.err, func(err error) (descend bool) {
				visited = append(visited, err.Error())
				return err.Error() != row.closed
			})

			assert.Equal(t, row.want, visited)
		})
	}
}

func TestWalkLeavesATypedNilToItsVisitor(t *testing.T) {
	var none *link
	var visited []error
	errtree.Walk(fork{none, errors.New("leaf")}, func(err error) (descend bool) {
		visited = append(visited, err)
		return err != error(none)
	})

	assert.Len(t, visited, 3)
	assert.Equal(t, error(none), visited[1])
}

func TestWalkReachesTheDepthOfAnyTree(t *testing.T) {
	const depth = 100_000
	for behaviour, wrap := range map[string]func(error) error{
		"a chain": func(err error) error { return &link{"link", err} },
		"forks":   func(err error) error { return fork{err, nil} },
	} {
		t.Run(behaviour, func(t *testing.T) {
			err := errors.New("leaf")
			for range depth {
				err = wrap(err)
			}
			visits := 0
			var last error
			errtree.Walk(err, func(err error) (descend bool) {
				visits++
				last = err
				return true
			})

			assert.Equal(t, depth+1, visits)
			assert.EqualError(t, last, "leaf")
		})
	}
}

func TestWalkEndsWhenAnErrorWrapsItself(t *testing.T) {
	chain := &link{name: "link"}
	chain.next = chain
	loop := make(fork, 3)
	loop[0], loop[2] = loop, loop
	for behaviour, err := range map[string]error{"a chain": chain, "a fork": loop} {
		t.Run(behaviour, func(t *testing.T) {
			visits := 0
			errtree.Walk(err, func(error) (descend bool) {
				visits++
				return true
			})

			assert.Greater(t, visits, 100_000)
		})
	}
}
