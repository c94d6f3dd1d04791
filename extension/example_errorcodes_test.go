package extension_test

import (
	"context"
	"errors"
	"net/http"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Clients know another code for an open circuit. What is not given, here the message, stays.
func ExampleWithErrorCodes() {
	resolvers := &testgraph.Stub{}
	resolvers.QueryResolver.Annotated = func(context.Context, *int) ([]*model.Item, error) {
		return nil, errors.New("connection refused")
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry(), extension.WithErrorCodes(gqlerrors.Answers{
		policy.KindCircuitOpen: {Code: "UNAVAILABLE", HTTPStatus: http.StatusBadGateway},
	})))

	ask(server, `{ annotated { id } }`)
	ask(server, `{ annotated { id } }`)
	// Output:
	// 200 {"errors":[{"message":"connection refused","path":["annotated"],"locations":[{"line":1,"column":3}]}],"data":{"annotated":null}}
	// 200 {"errors":[{"message":"Service temporarily unavailable","path":["annotated"],"locations":[{"line":1,"column":3}],"extensions":{"code":"UNAVAILABLE","httpStatus":502,"retryAfter":…}}],"data":{"annotated":null}}
}
