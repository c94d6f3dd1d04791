package extension

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
)

// On a busy machine an attempt may be given up, and followed by another, before its goroutine runs.
func TestAnAttemptThatWasGivenUpBeforeItBeganNeverBegins(t *testing.T) {
	ctx := graphql.WithFieldContext(t.Context(), &graphql.FieldContext{})
	op, f := &operation{}, &field{enforced: true}
	op.scope.Store(&op.whole)
	var first, starved, last attempt
	first.prepare(ctx, op, f, nil)
	assert.True(t, first.begin())
	starved.prepare(ctx, op, f, &first)
	last.prepare(ctx, op, f, &starved)
	assert.True(t, last.begin())
	assert.Equal(t, abandoned, first.state.Load(), "what it does from now on is for nobody")
	assert.False(t, starved.begin())
	assert.Nil(t, last.before(), "attempts would pile up")
}
