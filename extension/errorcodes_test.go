package extension_test

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestClientsThatKnowOtherCodesGetThem(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2")
		open := &policy.Error{Kind: policy.KindCircuitOpen, Policy: "secret"}
		stub.QueryResolver.Text = failing(open)
		stub.QueryResolver.Any = func(ctx context.Context) (any, error) {
			graphql.AddError(ctx, open)
			return "partly", nil
		}
		stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) { return nil, open }
		stub.QueryResolver.Timed = failing(open)
		server := h.server(stub)
		server.SetErrorPresenter(gqlerrors.Presenter(nil))
		server.Use(extension.New(newRegistry(t, nil), answerWith("Query.timed", new("cached")),
			extension.WithErrorCodes(gqlerrors.Answers{policy.KindCircuitOpen: {Code: "UPSTREAM_DOWN", Message: "Try later"}})))
		response := testgraph.Post(t.Context(), t, server, `{ text any timed items { stock } }`)
		require.Len(t, response.Errors, 4, "returned, added, and one for each item of a batch")
		for _, err := range response.Errors {
			require.Equal(t, "Try later", err.Message)
			require.Equal(t, map[string]any{"code": "UPSTREAM_DOWN", "httpStatus": 503.0}, err.Extensions)
		}
		require.Equal(t, []any{map[string]any{"path": []any{"timed"}, "code": "UPSTREAM_DOWN"}}, response.Extensions["degraded"])
	})
}

func TestMistakesInErrorCodesAreFoundAtBoot(t *testing.T) {
	require.Equal(t, `gqlresilience:
WithErrorCodes: answer to "timeout": httpStatus: 200: must be from 400 to 599
WithErrorCodes: given twice`,
		use(t, testgraph.NewSchema(&testgraph.Stub{}), extension.New(newRegistry(t, nil),
			extension.WithErrorCodes(gqlerrors.Answers{policy.KindTimeout: {HTTPStatus: 200}}), extension.WithErrorCodes(nil))))
	for _, none := range []gqlerrors.Answers{nil, {}} {
		require.Equal(t, "gqlresilience:\nWithErrorCodes: gives no answer",
			use(t, testgraph.NewSchema(&testgraph.Stub{}), extension.New(newRegistry(t, nil), extension.WithErrorCodes(none))))
	}
}
