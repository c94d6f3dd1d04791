package extension_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Each field may be tried three times, but the operation has one retry for both, and the first takes
// it.
func ExampleWithOperationBudget() {
	calls := 0
	resolvers := &testgraph.Stub{}
	down := func(context.Context, *int) (*string, error) {
		calls++
		return nil, errors.New("connection refused")
	}
	resolvers.MutationResolver.Save, resolvers.MutationResolver.Remove = down, down
	idempotent := extension.Field{Idempotent: new(true), Spec: policy.Spec{
		Retry: &policy.RetrySpec{Attempts: new(3), Backoff: &policy.BackoffSpec{Delay: new(time.Millisecond)}},
	}}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry(),
		extension.WithField("Mutation.save", idempotent),
		extension.WithField("Mutation.remove", idempotent),
		extension.WithOperationBudget(extension.Budget{Retries: new(1)}),
	))

	ask(server, `mutation { save(n: 1) remove(n: 2) }`)
	fmt.Println(calls, "calls")
	// Output:
	// 200 {"errors":[{"message":"connection refused","path":["save"],"locations":[{"line":1,"column":12}]},{"message":"connection refused","path":["remove"],"locations":[{"line":1,"column":23}]}],"data":{"save":null,"remove":null}}
	// 3 calls
}

// Middleware knows how long the caller waits, and so do the resolvers.
func ExampleContextWithBudget() {
	resolvers := &testgraph.Stub{}
	resolvers.QueryResolver.Text = func(ctx context.Context) (*string, error) {
		left, _ := policy.RemainingTime(ctx)
		return new(left.Round(time.Minute).String()), nil
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry(), extension.WithOperationBudget(extension.Budget{Timeout: time.Hour})))
	hasty := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.ServeHTTP(w, r.WithContext(extension.ContextWithBudget(r.Context(), 20*time.Minute)))
	})

	ask(server, `{ text }`)
	ask(hasty, `{ text }`)
	// Output:
	// 200 {"data":{"text":"1h0m0s"}}
	// 200 {"data":{"text":"20m0s"}}
}
