package extension_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestOneExtensionServesTheSameSchemaTwice(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"breaker": {CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1)}}})
		shared := extension.New(registry, underPreset("Query.text", "breaker"))
		broken, working := h.server(textStub(failing(errors.New("down")))), h.server(textStub(answering("up")))
		broken.Use(shared)
		working.Use(shared)

		require.Equal(t, "up", testgraph.Post(t.Context(), t, working, `{ text }`).Data["text"])
		testgraph.Post(t.Context(), t, broken, `{ text }`) // 1 of 2 calls failed: opens the breaker of both
		response := testgraph.Post(t.Context(), t, working, `{ text }`)
		require.Len(t, response.Errors, 1)
		require.Equal(t, "CIRCUIT_OPEN", response.Errors[0].Extensions["code"])
	})
}

func TestEachServersSchemaDecidesWhatItsFieldsRunUnder(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(hanging)
		original := testgraph.NewSchema(stub).Schema()
		servers := map[time.Duration]http.Handler{}
		shared := extension.New(newRegistry(t, nil))
		for text, timeout := range map[string]time.Duration{"100ms": 100 * time.Millisecond, "3s": 3 * time.Second} {
			server := testgraph.Serve(h.withSchema(stub, variantOf(t, original,
				"  text: String\n", `  text: String @resilience(timeout: "`+text+`")`+"\n",
				"save(n: Int): String", `save(n: Int): String @resilience(timeout: "`+text+`")`)))
			server.Use(shared)
			servers[timeout] = server
		}
		plain := h.server(stub)
		plain.Use(shared)

		for _, query := range []string{
			`{ text }`, `{ __typename text }`, `{ ... { text } }`, `{ ... on Query { text } }`,
			`{ ...more } fragment more on Query { text }`, `{ alias: text }`, `mutation { save }`, `mutation { ... on Mutation { save } }`,
		} {
			for timeout, server := range servers {
				began := time.Now()
				response := testgraph.Post(t.Context(), t, server, query)
				require.Len(t, response.Errors, 1, query)
				require.Equal(t, "TIMEOUT", response.Errors[0].Extensions["code"], query)
				require.Equal(t, timeout, time.Since(began), query)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			began := time.Now()
			testgraph.Post(ctx, t, plain, query)
			require.Equal(t, time.Hour, time.Since(began), "%s: no annotation, no timeout", query)
			cancel()
		}
	})
}

func TestAFieldsOwnBreakerIsSharedBySchemasThatAnnotateItDifferently(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(failing(errors.New("down")))
		plain := h.schema(stub)
		annotated := h.withSchema(stub, variantOf(t, plain.Schema(), "  text: String\n", "  text: String @resilience(timeout: \"1s\")\n"))
		registry := newRegistry(t, nil)
		shared := extension.New(registry, extension.WithField("Query.text", extension.Field{
			Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2)}},
		}))
		first, second := testgraph.Serve(plain), testgraph.Serve(annotated)
		first.Use(shared)
		second.Use(shared)

		testgraph.Post(t.Context(), t, first, `{ text }`)
		testgraph.Post(t.Context(), t, second, `{ text }`)
		breaker, ok := registry.CircuitBreaker("Query.text")
		require.True(t, ok)
		require.Equal(t, policy.StateOpen, breaker.State())
	})
}

func TestOneExtensionServesSchemasWithAndWithoutAPanicHandler(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(func(context.Context) (*string, error) { panic("boom") })
		shared := extension.New(newRegistry(t, nil), extension.WithField("Query.text", extension.Field{
			Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}},
		}))
		with, without := h.server(stub), testgraph.Serve(h.noPanicSchema(stub))
		with.Use(shared)
		without.Use(shared)

		response := testgraph.Post(t.Context(), t, with, `{ text __typename }`)
		require.Equal(t, http.StatusOK, response.Status)
		require.Equal(t, map[string]any{"text": nil, "__typename": "Query"}, response.Data)
		require.Equal(t, "panic: boom", response.Errors[0].Message)

		response = testgraph.Post(t.Context(), t, without, `{ text __typename }`)
		require.Equal(t, http.StatusInternalServerError, response.Status, "the panic reached the server")
		require.Nil(t, response.Data)
	})
}

func TestTwoExtensionsOnOneRegistryShareItsGates(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"breaker": {CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2)}}})
		stub := textStub(failing(errors.New("down")))
		own := extension.Field{Spec: policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1)}}, Preset: "breaker"}
		first := h.protect(stub, registry, extension.WithField("Query.text", own))
		second := h.protect(stub, registry, extension.WithField("Query.text", own))

		testgraph.Post(t.Context(), t, first, `{ text }`)
		testgraph.Post(t.Context(), t, second, `{ text }`)
		for _, server := range []http.Handler{first, second} {
			require.Equal(t, "CIRCUIT_OPEN", testgraph.Post(t.Context(), t, server, `{ text }`).Errors[0].Extensions["code"])
		}
		bulkhead, ok := registry.Bulkhead("Query.text")
		require.True(t, ok)
		require.Equal(t, 1, bulkhead.MaxConcurrent())
	})
}

func TestTwoExtensionsOnOneRegistryMustAgreeOnAFieldsOwnGate(t *testing.T) {
	registry := newRegistry(t, nil)
	limited := func(n int) *extension.Extension {
		return extension.New(registry, extension.WithField("Query.text", extension.Field{
			Spec: policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(n)}},
		}))
	}
	schema := testgraph.NewSchema(&testgraph.Stub{})
	require.Empty(t, use(t, schema, limited(1)))
	require.Empty(t, use(t, schema, limited(1)))
	require.Equal(t, "gqlresilience:\n"+
		`bulkhead "Query.text": configured by WithField("Query.text") and again by WithField("Query.text"): configure it in one place and only name it in the other`,
		use(t, schema, limited(2)))
}

func TestTwoExtensionsOnOneServerEachRunTheirOwnFields(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		calls := 0
		stub := textStub(answering("up"))
		stub.QueryResolver.StrictText = func(context.Context) (string, error) { calls++; return "", errors.New("down") }
		twice := policy.Spec{Retry: &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Delay: new(time.Duration(0))}}}
		server := h.server(stub)
		server.Use(extension.New(newRegistry(t, nil), extension.WithField("Query.strictText", extension.Field{Spec: twice})))
		server.Use(extension.New(newRegistry(t, nil), extension.WithField("Query.text", extension.Field{
			Spec: policy.Spec{RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)}},
		})))
		require.Equal(t, "up", testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"])
		require.Equal(t, "RATE_LIMITED", testgraph.Post(t.Context(), t, server, `{ text }`).Errors[0].Extensions["code"])
		testgraph.Post(t.Context(), t, server, `{ strictText }`)
		require.Equal(t, 2, calls)
	})
}

func TestAServerMayBeAddedWhileAnotherServes(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(answering("up"))
		shared := extension.New(newRegistry(t, nil), underPreset("Query.text", "dependency"))
		first := h.server(stub)
		first.Use(shared)
		var serving sync.WaitGroup
		for range 4 {
			serving.Go(func() {
				for range 25 {
					if got := testgraph.Post(t.Context(), t, first, `{ text }`).Data["text"]; got != "up" {
						t.Errorf("got %v", got)
					}
				}
			})
		}
		variant := variantOf(t, testgraph.NewSchema(stub).Schema())
		for range 4 {
			server := testgraph.Serve(h.withSchema(stub, variant))
			server.Use(shared)
			require.Equal(t, "up", testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"])
		}
		serving.Wait()
	})
}

func TestServersOfOneSchemaWithDifferentGuardsNeedAnExtensionEach(t *testing.T) {
	stub := &testgraph.Stub{}
	e := extension.New(newRegistry(t, nil), extension.WithLogger(slog.New(slog.DiscardHandler)))
	require.Empty(t, use(t, testgraph.NewGuardedSchema(stub), e))
	require.Empty(t, use(t, testgraph.NewGuardedSchema(stub), e))
	require.Equal(t, "gqlresilience:\ntwo executable schemas of one schema, whose resolvers have different guards: "+
		"give each an extension of its own, with the same registry", use(t, testgraph.NewSchema(stub), e))

	es := testgraph.NewNoPanicSchema(stub)
	e = extension.New(newRegistry(t, nil), extension.WithLogger(slog.New(slog.DiscardHandler)))
	require.Empty(t, use(t, es, e))
	require.Equal(t, "gqlresilience:\ntwo executable schemas of one schema, only one of which was generated with omit_panic_handler: "+
		"give each an extension of its own, with the same registry", use(t, withSchema(stub, es.Schema()), e))
}

func TestExtensionsKnowAnOperationWhoseContextWasCopiedInBetween(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.server(textStub(failing(errDown)))
		server.Use(extension.New(newRegistry(t, nil), answerWith("Query.text", new("cached"))))
		server.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
			copied := *graphql.GetOperationContext(ctx)
			return next(graphql.WithOperationContext(ctx, &copied))
		})
		server.Use(extension.New(newRegistry(t, nil), answerWith[any]("Query.any", "cached")))
		require.Equal(t, map[string]any{"text": "cached"}, testgraph.Post(t.Context(), t, server, `{ text }`).Data)
	})
}

func TestGuardsOfAServerWithoutTheExtensionFailWithinAnothersOperationToo(t *testing.T) {
	inner := testgraph.Serve(testgraph.NewGuardedSchema(textStub(answering("unprotected"))))
	var answer testgraph.Response
	stub := &testgraph.Stub{}
	stub.QueryResolver.Any = func(ctx context.Context) (any, error) {
		answer = testgraph.Post(ctx, t, inner, `{ text }`)
		return "any", nil
	}
	server := hook{}.protect(stub, newRegistry(t, nil), underSpec(enforced(time.Second)))
	require.Empty(t, testgraph.Post(t.Context(), t, server, `{ any }`).Errors)
	require.Len(t, answer.Errors, 1)
	require.Contains(t, answer.Errors[0].Message, "Query.text is guarded, but runs outside of an operation")
}
