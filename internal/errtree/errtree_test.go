package errtree_test

import (
	"errors"
	"fmt"
	"reflect"
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

// itself is an error that wraps itself, and is no pointer.
type itself struct{ any }

func (i itself) Error() string { return "itself" }
func (i itself) Unwrap() error { return i }

func TestWalkEndsWhenAnErrorWrapsItself(t *testing.T) {
	chain := &link{name: "link"}
	chain.next = chain
	longer := &link{name: "link", next: &link{name: "link", next: &link{name: "link"}}}
	longer.next.(*link).next.(*link).next = longer
	var led error = longer
	for range 1000 {
		led = &link{"link", led}
	}
	loop := make(fork, 3)
	loop[0], loop[2] = loop, loop
	for behaviour, row := range map[string]struct {
		err  error
		most int // visits
	}{
		"a chain":                    {chain, 100},
		"a chain of several":         {longer, 100},
		"a chain that leads there":   {led, 5000},
		"a chain in a fork":          {fork{errors.New("leaf"), chain}, 200},
		"a value":                    {itself{}, 100},
		"a value that can't compare": {itself{[]int{}}, 1 << 20},
		"a fork":                     {loop, 1 << 20},
	} {
		t.Run(behaviour, func(t *testing.T) {
			visits := 0
			whole := errtree.Walk(row.err, func(error) (descend bool) {
				visits++
				return true
			})

			assert.False(t, whole)
			assert.LessOrEqual(t, visits, row.most)
			_, ok := errtree.As[fork](fork{row.err})
			assert.True(t, ok)
			_, ok = errtree.As[*other](row.err)
			assert.False(t, ok)
			assert.True(t, errtree.Is(row.err, row.err) || !reflect.ValueOf(row.err).Comparable())
			assert.False(t, errtree.Is(row.err, errors.ErrUnsupported))
		})
	}
	assert.True(t, errtree.Walk(errors.New("leaf"), func(error) bool { return true }))
	assert.True(t, errtree.Walk(chain, func(error) bool { return false }))
}

// other is an error that none of these is.
type other struct{ error }

// claiming is an error that is a link by its As method.
type claiming struct{ error }

func (c claiming) As(target any) bool {
	as, ok := target.(**link)
	if ok {
		*as = &link{name: "claimed"}
	}
	return ok
}

func TestAsFindsWhatErrorsAsFinds(t *testing.T) {
	leaf := errors.New("leaf")
	var none *link
	for behaviour, err := range map[string]error{
		"no error":            nil,
		"another":             leaf,
		"itself":              &link{"a", leaf},
		"a chain":             fmt.Errorf("b: %w", &link{"a", leaf}),
		"the first of a fork": fork{leaf, &link{"a", leaf}, &link{"b", leaf}},
		"an As method":        fork{leaf, claiming{leaf}, &link{"b", leaf}},
		"a nil pointer":       fork{none, &link{"b", leaf}},
	} {
		t.Run(behaviour, func(t *testing.T) {
			want, wantOK := errors.AsType[*link](err)
			found, ok := errtree.As[*link](err)

			assert.Equal(t, wantOK, ok)
			assert.Equal(t, want, found)
		})
	}
}

// matching is an error that is its target by its Is method.
type matching struct{ target error }

func (matching) Error() string          { return "matching" }
func (m matching) Is(target error) bool { return target == m.target }

func TestIsFindsWhatErrorsIsFinds(t *testing.T) {
	leaf, wanted := errors.New("leaf"), errors.New("wanted")
	for behaviour, row := range map[string]struct{ err, target error }{
		"no error":                 {nil, wanted},
		"no target":                {leaf, nil},
		"neither":                  {nil, nil},
		"another":                  {leaf, wanted},
		"another of the same text": {errors.New("wanted"), wanted},
		"itself":                   {wanted, wanted},
		"a chain":                  {fmt.Errorf("b: %w", &link{"a", wanted}), wanted},
		"a chain of others":        {fmt.Errorf("b: %w", &link{"a", leaf}), wanted},
		"one of a fork":            {fork{leaf, &link{"a", wanted}, leaf}, wanted},
		"none of a fork":           {fork{leaf, nil, &link{"a", leaf}}, wanted},
		"an Is method":             {fork{leaf, matching{wanted}, leaf}, wanted},
		"an Is method of another":  {fork{leaf, matching{leaf}}, wanted},
		"an Is method in a chain":  {&link{"a", matching{wanted}}, wanted},
		"what can't be compared":   {fork{leaf}, fork{leaf}},
		"a value":                  {fork{matching{leaf}}, matching{leaf}},
	} {
		t.Run(behaviour, func(t *testing.T) {
			assert.Equal(t, errors.Is(row.err, row.target), errtree.Is(row.err, row.target))
		})
	}
}
