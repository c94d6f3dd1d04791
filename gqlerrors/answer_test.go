package gqlerrors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestAnswersReplaceWhatTheySayAndNothingElse(t *testing.T) {
	answers := gqlerrors.Answers{
		policy.KindTimeout:     {Code: "DEADLINE_EXCEEDED"},
		policy.KindCircuitOpen: {Code: "UNAVAILABLE", HTTPStatus: 502, Message: "Try again later"},
		policy.KindRateLimited: {HTTPStatus: 429},
	}
	require.NoError(t, answers.Validate())
	for _, row := range []struct {
		kind policy.ErrorKind
		want string
	}{
		{policy.KindTimeout, `{"message": "The operation timed out", "extensions": {"code": "DEADLINE_EXCEEDED", "httpStatus": 504}}`},
		{policy.KindCircuitOpen, `{"message": "Try again later", "extensions": {"code": "UNAVAILABLE", "httpStatus": 502, "retryAfter": 30}}`},
		{policy.KindRateLimited, `{"message": "Rate limit of a dependency exceeded", "extensions": {"code": "RATE_LIMITED", "httpStatus": 429, "retryAfter": 30}}`},
		{policy.KindBulkheadFull, `{"message": "Server is at capacity", "extensions": {"code": "BULKHEAD_FULL", "httpStatus": 503}}`},
	} {
		t.Run(row.kind.String(), func(t *testing.T) {
			failure := &policy.Error{Kind: row.kind, RetryAfter: 30 * time.Second}

			converted := answers.Convert(fmt.Errorf("quotes: %w", failure))

			assert.JSONEq(t, row.want, wire(t, converted))
			assert.JSONEq(t, row.want, wire(t, answers.Convert(gqlerror.List{gqlerror.Wrap(failure)}).(gqlerror.List)[0]))
		})
	}
}

func TestConvertedOnceAnErrorKeepsItsCode(t *testing.T) {
	failure := &policy.Error{Kind: policy.KindTimeout}
	one := gqlerrors.Answers{policy.KindTimeout: {Code: "ONE"}}
	other := gqlerrors.Answers{policy.KindTimeout: {Code: "OTHER"}}

	converted := one.Convert(failure)

	assert.Same(t, converted, other.Convert(converted))
	assert.Same(t, converted, gqlerrors.Convert(converted))
}

func TestAnswersOfUnknownKindsConvertNothing(t *testing.T) {
	failure := &policy.Error{Kind: 99}

	assert.Same(t, failure, gqlerrors.Answers{99: {Code: "X", HTTPStatus: 500, Message: "x"}}.Convert(failure))
}

func TestAnswersReportAllThatIsWrongWithThem(t *testing.T) {
	assert.EqualError(t, gqlerrors.Answers{
		policy.KindTimeout:      {Code: " ", HTTPStatus: 399, Message: "\t"},
		policy.KindCircuitOpen:  {HTTPStatus: 600},
		policy.KindBulkheadFull: {Code: "FULL", HTTPStatus: 400, Message: "Full"},
		policy.KindRateLimited:  {HTTPStatus: 599},
		7:                       {Code: "X"},
	}.Validate(), `answer to "timeout": code: " ": must not be blank
answer to "timeout": httpStatus: 399: must be from 400 to 599
answer to "timeout": message: "\t": must not be blank
answer to "circuit open": httpStatus: 600: must be from 400 to 599
answer to "ErrorKind(7)": no such kind of policy error`)
	assert.NoError(t, gqlerrors.Answers(nil).Validate())
}

func TestThePresenterFindsTheAnswersOfTheOperation(t *testing.T) {
	failure := &policy.Error{Kind: policy.KindTimeout, Policy: "stock"}
	stub := new(testgraph.Stub)
	stub.QueryResolver.Items = func(context.Context, *int) ([]*model.Item, error) { return []*model.Item{{ID: "1"}}, nil }
	stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
		graphql.AddError(ctx, failure)
		return new("partial"), nil
	}
	stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
		return []*int{nil}, graphql.BatchErrorList{failure}
	}
	for behaviour, options := range map[string][]gqlerrors.PresenterOption{
		"converting": nil,
		"masking":    {gqlerrors.MaskUnknown(nil)},
	} {
		t.Run(behaviour, func(t *testing.T) {
			server := testgraph.NewServer(stub)
			server.SetErrorPresenter(gqlerrors.Presenter(nil, options...))
			server.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
				return next(gqlerrors.WithAnswers(ctx, gqlerrors.Answers{policy.KindTimeout: {Code: "SLOW"}}))
			})

			response := testgraph.Post(t.Context(), t, server, `{ text items { stock } }`)

			require.Len(t, response.Errors, 2)
			for _, err := range response.Errors {
				assert.Equal(t, map[string]any{"code": "SLOW", "httpStatus": 504.0}, err.Extensions)
				assert.NotEmpty(t, err.Path)
			}
		})
	}
}

func TestThePresenterPutsThePathWhereGqlgenPutItIntoACause(t *testing.T) {
	ctx := field(gqlerrors.Presenter(nil))

	graphql.AddError(ctx, &policy.Error{Kind: policy.KindTimeout, Cause: gqlerror.Errorf("upstream's")})
	graphql.AddError(ctx, &policy.FallbackError{Err: errors.New("no cached quotes"), Cause: gqlerror.Errorf("upstream's")})

	added := graphql.GetErrors(ctx)
	require.Len(t, added, 2)
	assert.Equal(t, "quotes", added[0].Path.String())
	assert.Equal(t, "quotes", added[1].Path.String())
}
