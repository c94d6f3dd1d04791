package extension_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// ask posts a query to the server and prints the response.
func ask(server http.Handler, query string) {
	request := httptest.NewRequest(http.MethodPost, "/query", strings.NewReader(fmt.Sprintf(`{"query": %q}`, query)))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, request)
	fmt.Println(recorder.Code, seconds.ReplaceAllString(recorder.Body.String(), "$1:…"))
}

// seconds are those in a response, which depend on how quick the machine is.
var seconds = regexp.MustCompile(`("retryAfter"|"age"):\d+`)

// The schema says
//
//	annotated(n: Int): [Item!] @resilience(preset: "dependency", timeout: "1.5s")
//
// and the dependency is down. A failure is that of its field alone, and the open circuit spares
// the dependency the second call.
func ExampleNew() {
	resolvers := &testgraph.Stub{}
	resolvers.QueryResolver.Annotated = func(context.Context, *int) ([]*model.Item, error) {
		return nil, errors.New("connection refused")
	}
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"dependency": {CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1), OpenDuration: new(30 * time.Second)}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers)) // yours: handler.New(graph.NewExecutableSchema(…)), of graph.Guard(resolvers)
	server.Use(extension.New(registry))

	ask(server, `{ __typename annotated { id } }`)
	ask(server, `{ __typename annotated { id } }`)
	// Output:
	// 200 {"errors":[{"message":"connection refused","path":["annotated"],"locations":[{"line":1,"column":14}]}],"data":{"__typename":"Query","annotated":null}}
	// 200 {"errors":[{"message":"Service temporarily unavailable","path":["annotated"],"locations":[{"line":1,"column":14}],"extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":…}}],"data":{"__typename":"Query","annotated":null}}
}

// A field gets from Go what its schema does not say: here, that it may be called again although
// it is a mutation's.
func ExampleWithField() {
	attempts := 0
	resolvers := &testgraph.Stub{}
	resolvers.MutationResolver.Save = func(ctx context.Context, n *int) (*string, error) {
		attempts++
		if policy.AttemptFromContext(ctx) == 1 {
			return nil, errors.New("connection reset")
		}
		return new("saved"), nil
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry(),
		extension.WithField("Mutation.save", extension.Field{
			Idempotent: new(true),
			Spec: policy.Spec{
				Retry: &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Delay: new(time.Millisecond)}},
			},
		}),
	))

	ask(server, `mutation { save(n: 1) }`)
	fmt.Println(attempts, "attempts")
	// Output:
	// 200 {"data":{"save":"saved"}}
	// 2 attempts
}

// The fallback answers while the circuit is open, and not for the failure that opens it.
func ExampleWithFallback() {
	resolvers := &testgraph.Stub{}
	resolvers.QueryResolver.Annotated = func(context.Context, *int) ([]*model.Item, error) {
		return nil, errors.New("connection refused")
	}
	bestsellers := func(context.Context, error) ([]*model.Item, error) {
		return []*model.Item{{ID: "tuna-pate"}}, nil
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry(),
		extension.WithFallback("Query.annotated", bestsellers, extension.When(policy.ErrCircuitOpen)),
	))

	ask(server, `{ annotated { id } }`)
	ask(server, `{ annotated { id } }`)
	// Output:
	// 200 {"errors":[{"message":"connection refused","path":["annotated"],"locations":[{"line":1,"column":3}]}],"data":{"annotated":null}}
	// 200 {"data":{"annotated":[{"id":"tuna-pate"}]},"extensions":{"degraded":[{"path":["annotated"],"code":"CIRCUIT_OPEN"}]}}
}

// exampleRegistry has a preset whose circuit opens at the first failure.
func exampleRegistry() *policy.Registry {
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"dependency": {CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1)}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	return registry
}

func ExampleWithLogger() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	resolvers := &testgraph.Stub{}
	resolvers.QueryResolver.Annotated = func(context.Context, *int) ([]*model.Item, error) {
		return nil, errors.New("connection refused")
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry(), extension.WithLogger(logger)))

	ask(server, `{ annotated { id } }`)
	// Output:
	// level=WARN msg="circuit breaker open" field=Query.annotated policy=dependency breaker=dependency from=closed reason="1 of 1 calls failed"
	// 200 {"errors":[{"message":"connection refused","path":["annotated"],"locations":[{"line":1,"column":3}]}],"data":{"annotated":null}}
}

// withoutTime drops the time, which would change from run to run.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
