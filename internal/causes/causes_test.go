package causes_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/causes"
	"github.com/gqlresilience/gqlresilience/policy"
)

var (
	upstream = &gqlerror.Error{Message: "upstream's", Extensions: map[string]any{"code": "UPSTREAM"}}
	own      = &gqlerror.Error{
		Message:    "mine",
		Path:       ast.Path{ast.PathName("quotes")},
		Locations:  []gqlerror.Location{{Line: 2, Column: 3}},
		Extensions: map[string]any{"code": "OWN"},
	}
	timeout = &policy.Error{Kind: policy.KindTimeout, Policy: "carrier"}
	caused  = &policy.Error{Kind: policy.KindTimeout, Policy: "carrier", Cause: fmt.Errorf("quotes: %w", upstream)}
)

func TestHideReturnsAnErrorItselfWhereNothingNeedsHiding(t *testing.T) {
	for behaviour, err := range map[string]error{
		"no error":                         nil,
		"an error of the resolver":         errors.New("no such order"),
		"a GraphQL error":                  own,
		"a wrapped GraphQL error":          fmt.Errorf("quotes: %w", own),
		"joined GraphQL errors":            errors.Join(own, upstream),
		"one joined before a policy error": errors.Join(own, caused),
		"one above a policy error":         &gqlerror.Error{Message: "mine", Err: caused},
		"one that a fallback returned":     &policy.FallbackError{Err: own, Cause: upstream},
		"a nil GraphQL error":              (*gqlerror.Error)(nil),
		"a policy error without a cause":   timeout,
	} {
		t.Run(behaviour, func(t *testing.T) {
			assert.True(t, err == causes.Hide(err), "the identical error")
		})
	}
}

func TestHideReturnsAListAsItIs(t *testing.T) {
	list := gqlerror.List{gqlerror.Wrap(caused)}

	assert.Same(t, &list[0], &causes.Hide(list).(gqlerror.List)[0])
	assert.Equal(t, gqlerror.List(nil), causes.Hide(gqlerror.List(nil)))
}

func TestGqlgenReportsTheFailureAndNotItsCause(t *testing.T) {
	const timedOut = `policy "carrier": the operation timed out`
	for behaviour, row := range map[string]struct {
		err  error
		want string
	}{
		"a GraphQL error as cause":        {caused, timedOut},
		"another error as cause":          {&policy.Error{Kind: policy.KindTimeout, Policy: "carrier", Cause: errors.New("no route")}, timedOut},
		"a wrapped policy error":          {fmt.Errorf("quotes: %w", caused), fmt.Sprintf("quotes: %v", caused)},
		"what a fallback was given":       {&policy.FallbackError{Err: errors.New("no cached quotes"), Cause: upstream}, "no cached quotes"},
		"the cause of a fallback's error": {&policy.FallbackError{Err: caused, Cause: upstream}, timedOut},
		"fallbacks within fallbacks": {&policy.FallbackError{
			Err:   &policy.FallbackError{Err: errors.New("no cached quotes"), Cause: upstream},
			Cause: upstream,
		}, "no cached quotes"},
		"a policy error beside another": {errors.Join(errors.New("no route"), caused), fmt.Sprintf("no route\n%v", caused)},
	} {
		t.Run(behaviour, func(t *testing.T) {
			hidden := causes.Hide(row.err)
			reported := graphql.DefaultErrorPresenter(t.Context(), hidden)

			assert.Equal(t, row.want, reported.Message)
			assert.Empty(t, reported.Extensions)
			assert.ErrorIs(t, hidden, row.err, "a presenter must reach all of it")
		})
	}
}

func TestGqlgenReportsAGraphQLErrorThatStandsBehindACause(t *testing.T) {
	err := errors.Join(caused, fmt.Errorf("quotes: %w", own), upstream)
	reported := graphql.DefaultErrorPresenter(t.Context(), causes.Hide(err))

	assert.NotSame(t, own, reported, "gqlgen writes a path into what it reports")
	assert.Equal(t, own.Message, reported.Message)
	assert.Equal(t, own.Path, reported.Path)
	assert.Equal(t, own.Locations, reported.Locations)
	assert.Equal(t, own.Extensions, reported.Extensions)
	assert.Equal(t, err, reported.Err)
	assert.NoError(t, own.Err, "the error it came from must stay as it was")
}

// itself is an error that wraps itself, in which gqlgen would look for a GraphQL error forever.
type itself struct{}

func (i itself) Error() string { return "no end" }
func (i itself) Unwrap() error { return i }

func TestGqlgenReportsAnErrorThatWrapsItself(t *testing.T) {
	reported := graphql.DefaultErrorPresenter(t.Context(), causes.Hide(fmt.Errorf("quotes: %w", itself{})))

	assert.Equal(t, "quotes: no end", reported.Message)
}
