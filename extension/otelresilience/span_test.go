package otelresilience_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// traced is what was recorded of a span.
type traced struct {
	attributes string
	events     []string // name and attributes
}

// trace runs call with a span in its context, and returns what was recorded of it.
func trace(t *testing.T, call func(context.Context)) traced {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	ctx, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test").Start(t.Context(), "request")
	call(ctx)
	span.End()
	require.Len(t, recorder.Ended(), 1)
	ended := recorder.Ended()[0]
	found := traced{attributes: text(ended.Attributes())}
	for _, event := range ended.Events() {
		found.events = append(found.events, event.Name+": "+text(event.Attributes))
	}
	assert.NotContains(t, fmt.Sprint(found), secret)
	return found
}

func TestTheFieldsSpanTellsWhatItsPolicyDid(t *testing.T) {
	underEachHook(t, func(t *testing.T, schema func(*testgraph.Stub) graphql.ExecutableSchema) {
		registry := newRegistry(t, policy.Spec{
			Timeout:        timeout(500*time.Millisecond, policy.Cooperative),
			Retry:          retry(3),
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2)},
		})
		observe(t, registry)
		server := serve(schema(textBy(sleep)), registry, extension.WithFallback("Query.text", flat))
		who := "policy=dependency,field=Query.text,"
		assert.Equal(t, traced{
			attributes: "attempt.count=2",
			events: []string{
				"gqlresilience.timeout: " + who + "attempt.number=1,reason=attempt,timeout.limit=0.5",
				"gqlresilience.retry: " + who + "attempt.number=1,retry.delay=1,error.type=TIMEOUT",
				"gqlresilience.timeout: " + who + "attempt.number=2,reason=attempt,timeout.limit=0.5",
				"gqlresilience.retry: " + who + "attempt.number=2,retry.delay=1,error.type=TIMEOUT",
				"gqlresilience.rejection: " + who + "attempt.number=3,reason=circuit-open",
				"gqlresilience.fallback: " + who + "outcome=answered,error.type=CIRCUIT_OPEN",
			},
		}, trace(t, func(ctx context.Context) { testgraph.Post(ctx, t, server, "{ text }") }))
	})
}

func TestASpanTellsTheSortOfAnErrorAndNoneOfItsText(t *testing.T) {
	for sort, err := range map[string]error{
		"*errors.errorString": errDown,
		"NO_STOCK":            fmt.Errorf("wrapped: %w", &gqlerror.Error{Message: secret, Extensions: map[string]any{"code": "NO_STOCK"}}),
		"_OTHER":              &gqlerror.Error{Message: secret, Extensions: map[string]any{"code": "password " + secret}},
		"502":                 fmt.Errorf("%s: %w", secret, policy.CheckResponse(&http.Response{StatusCode: http.StatusBadGateway})),
		"*errors.joinError":   errors.Join(errDown, errDown),
	} {
		t.Run(sort, func(t *testing.T) {
			registry := newRegistry(t, policy.Spec{
				Retry:    &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Delay: new(time.Duration(0))}},
				Fallback: &policy.FallbackSpec{Func: func(context.Context, error) (any, error) { return nil, errDown }},
			})
			observe(t, registry)
			assert.Equal(t, traced{
				attributes: "attempt.count=2",
				events: []string{
					"gqlresilience.retry: policy=dependency,field=Job.run,attempt.number=1,retry.delay=0,error.type=" + sort,
					"gqlresilience.fallback: policy=dependency,field=Job.run,outcome=failed,error.type=" + sort,
				},
			}, trace(t, func(ctx context.Context) {
				execute(ctx, dependency(t, registry), func(context.Context) (*string, error) { return nil, err })
			}))
		})
	}
}

func TestACallThatMadeNoAttemptSaysSo(t *testing.T) {
	registry := newRegistry(t, policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	observe(t, registry)
	breaker, _ := registry.CircuitBreaker("dependency")
	breaker.Trip()
	found := trace(t, func(ctx context.Context) { execute(ctx, dependency(t, registry), succeed) })
	assert.Equal(t, "attempt.count=0", found.attributes)
}
