package extension_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

// The dependency answers once and then fails: who asks for the same again is shown the last good
// value. For another n there is none, and the circuit is open by then.
func ExampleWithStale() {
	down := false
	resolvers := &testgraph.Stub{}
	resolvers.QueryResolver.Annotated = func(context.Context, *int) ([]*model.Item, error) {
		if down {
			return nil, errors.New("connection refused")
		}
		return []*model.Item{{ID: "tuna-pate"}}, nil
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry(), extension.WithStale("Query.annotated", extension.Stale{
		MaxAge:     10 * time.Minute,
		MaxEntries: 1000,
		Key: func(_ context.Context, args map[string]any) (string, bool) { // the same for all users
			n, ok := args["n"].(*int)
			if !ok || n == nil {
				return "", false
			}
			return fmt.Sprint(*n), true
		},
	})))

	ask(server, `{ annotated(n: 1) { id } }`)
	down = true
	ask(server, `{ annotated(n: 1) { id } }`)
	ask(server, `{ annotated(n: 2) { id } }`)
	// Output:
	// 200 {"data":{"annotated":[{"id":"tuna-pate"}]}}
	// 200 {"data":{"annotated":[{"id":"tuna-pate"}]},"extensions":{"degraded":[{"path":["annotated"],"code":"INTERNAL","age":…}]}}
	// 200 {"errors":[{"message":"Service temporarily unavailable","path":["annotated"],"locations":[{"line":1,"column":3}],"extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":…}}],"data":{"annotated":null}}
}
