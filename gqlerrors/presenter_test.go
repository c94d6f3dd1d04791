package gqlerrors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

var _ graphql.ErrorPresenterFunc = gqlerrors.Presenter(graphql.DefaultErrorPresenter)

// field is the context of a field's resolver, under presenter.
func field(presenter graphql.ErrorPresenterFunc) context.Context {
	ctx := graphql.WithResponseContext(context.Background(), presenter, graphql.DefaultRecover)
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{
		Field: graphql.CollectedField{Field: &ast.Field{Alias: "quotes"}},
	})
}

func TestPresenterConvertsWhatAddErrorAddsAndKeepsItsPath(t *testing.T) {
	failure := &policy.Error{Kind: policy.KindBulkheadFull, Policy: "carrier"}
	for _, row := range []struct {
		behaviour string
		next      func(context.Context, error) *gqlerror.Error
	}{
		{"gqlgen's presenter", graphql.DefaultErrorPresenter},
		{"no presenter", nil},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			ctx := field(gqlerrors.Presenter(row.next))

			graphql.AddError(ctx, fmt.Errorf("quotes: %w", failure))
			graphql.AddError(ctx, errors.New("no such order"))

			added := graphql.GetErrors(ctx)
			require.Len(t, added, 2)
			assert.JSONEq(t, `{"message": "Server is at capacity", "path": ["quotes"],
				"extensions": {"code": "BULKHEAD_FULL", "httpStatus": 503}}`, wire(t, added[0]))
			assert.JSONEq(t, `{"message": "no such order", "path": ["quotes"]}`, wire(t, added[1]))
		})
	}
}

func TestPresenterDoesNotConvertWhatIsConvertedAlready(t *testing.T) {
	converted := gqlerrors.Convert(&policy.Error{Kind: policy.KindTimeout})
	ctx := field(gqlerrors.Presenter(graphql.DefaultErrorPresenter))

	assert.Same(t, converted, gqlerrors.Presenter(graphql.DefaultErrorPresenter)(ctx, converted))
}

func TestPresenterHandsTheConvertedErrorAndTheContextToTheNext(t *testing.T) {
	type key struct{}
	failure := &policy.Error{Kind: policy.KindTimeout, Policy: "carrier"}
	own := gqlerror.Errorf("mine")
	presenter := gqlerrors.Presenter(func(ctx context.Context, err error) *gqlerror.Error {
		assert.Equal(t, "here", ctx.Value(key{}))
		assert.Equal(t, "TIMEOUT", must(errors.AsType[*gqlerror.Error](err)).Extensions["code"])
		assert.Same(t, failure, must(errors.AsType[*policy.Error](err)))
		return own
	})

	assert.Same(t, own, presenter(context.WithValue(t.Context(), key{}, "here"), failure))
}

func TestPresenterWithoutNextPresentsAsGqlgenDoes(t *testing.T) {
	presenter := gqlerrors.Presenter(nil)
	wrapped := gqlerror.Errorf("no such order")

	assert.Nil(t, presenter(t.Context(), nil))
	assert.Same(t, wrapped, presenter(t.Context(), fmt.Errorf("x: %w", wrapped)))
	assert.Equal(t, "plain", presenter(t.Context(), errors.New("plain")).Message)
}
