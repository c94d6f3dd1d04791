package gqlerrors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
)

// outOfStock is an error type of an application.
type outOfStock struct{ left int }

func (e *outOfStock) Error() string { return fmt.Sprintf("only %d left at 10.0.0.7", e.left) }

func TestTheNextPresenterCannotShowByAccidentWhatIsHidden(t *testing.T) {
	for _, row := range []struct {
		behaviour string
		next      graphql.ErrorPresenterFunc
		code      any // on the wire
		message   string
		logged    bool
	}{
		{"it presents as gqlgen does", graphql.DefaultErrorPresenter, gqlerrors.CodeInternal, "Internal server error", true},
		{"it sends the error's text", func(ctx context.Context, err error) *gqlerror.Error {
			return gqlerror.ErrorPathf(graphql.GetPath(ctx), "failed: %v", err)
		}, nil, "failed: input:1:3: text Internal server error", true},
		{"it wraps", func(_ context.Context, err error) *gqlerror.Error {
			return gqlerror.Wrap(err)
		}, gqlerrors.CodeInternal, "Internal server error", true},
		{"it wraps what lies behind", func(_ context.Context, err error) *gqlerror.Error {
			found, _ := errors.AsType[*outOfStock](err)
			return gqlerror.Wrap(found)
		}, gqlerrors.CodeInternal, "Internal server error", true},
		{"it says more, in its own words", func(ctx context.Context, err error) *gqlerror.Error {
			presented := graphql.DefaultErrorPresenter(ctx, err)
			if found, ok := errors.AsType[*outOfStock](err); ok {
				presented.Message = fmt.Sprintf("Only %d left", found.left)
			}
			return presented
		}, gqlerrors.CodeInternal, "Only 2 left", true},
		{"it answers with a code", func(ctx context.Context, err error) *gqlerror.Error {
			found, _ := errors.AsType[*outOfStock](err)
			return &gqlerror.Error{
				Path: graphql.GetPath(ctx), Message: fmt.Sprintf("Only %d left", found.left), Extensions: map[string]any{"code": "OUT_OF_STOCK"},
			}
		}, "OUT_OF_STOCK", "Only 2 left", false},
		{"it says nothing", func(context.Context, error) *gqlerror.Error { return nil }, nil, "", true},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			server, records := masked(t, failing(&outOfStock{left: 2}), row.next)

			response := testgraph.Post(t.Context(), t, server, `{ text }`)

			if row.message == "" {
				assert.Empty(t, response.Errors)
			} else {
				require.Len(t, response.Errors, 1)
				assert.Equal(t, row.message, response.Errors[0].Message)
				assert.Equal(t, row.code, response.Errors[0].Extensions["code"])
			}
			if !row.logged {
				assert.Empty(t, records())
				return
			}
			require.Len(t, records(), 1)
			assert.Equal(t, "only 2 left at 10.0.0.7", records()[0].Error)
			if instance, ok := response.Errors[:min(1, len(response.Errors))], row.code != nil; ok {
				assert.Equal(t, records()[0].Instance, instance[0].Extensions["instance"])
			}
		})
	}
}

func TestWhatTheNextPresenterMakesOfAnErrorForClientsIsHiddenToo(t *testing.T) {
	server, records := masked(t, failing(gqlerror.Errorf("no such order")), func(context.Context, error) *gqlerror.Error {
		return gqlerror.Wrap(errSecret)
	})

	response := testgraph.Post(t.Context(), t, server, `{ text }`)

	require.Len(t, response.Errors, 1)
	instance := requireInternal(t, response.Errors[0])
	require.Len(t, records(), 1)
	assert.Equal(t, instance, records()[0].Instance)
	assert.Equal(t, errSecret.Error(), records()[0].Error)
}
