package extension_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

var errDown = errors.New("the dependency is down")

// presets are a registry's, by name.
type presets map[string]policy.Spec

// newRegistry makes a registry of presets and of "dependency", which the test schema names.
func newRegistry(t testing.TB, of presets) *policy.Registry {
	t.Helper()
	all := presets{"dependency": {Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)}}}
	for name, spec := range of {
		all[name] = spec
	}
	registry, err := policy.NewRegistry(policy.Config{Presets: all})
	require.NoError(t, err)
	return registry
}

// underPreset is the option that puts a field under a preset.
func underPreset(coordinate, preset string) extension.Option {
	return extension.WithField(coordinate, extension.Field{Preset: preset})
}

// underSpec is the option that gives Query.text a policy.
func underSpec(spec policy.Spec) extension.Option {
	return extension.WithField("Query.text", extension.Field{Spec: spec})
}

// specs are the policies of a server's fields, by coordinate.
type specs map[string]policy.Spec

// protectSchema makes a server of the schema use an extension with those policies.
func protectSchema(t testing.TB, schema graphql.ExecutableSchema, fields specs, options ...extension.Option) (*handler.Server, *policy.Registry) {
	t.Helper()
	server := testgraph.Serve(schema)
	return server, protectServer(t, server, fields, options...)
}

// protectServer makes a server, which may have extensions already, use one with those policies.
func protectServer(t testing.TB, server *handler.Server, fields specs, options ...extension.Option) *policy.Registry {
	t.Helper()
	registry := newRegistry(t, nil)
	for coordinate, spec := range fields {
		field := extension.Field{Spec: spec}
		if spec.Retry != nil && !strings.HasPrefix(coordinate, "Query.") {
			field.Idempotent = new(true) // so that every field in these tests is retried
		}
		options = append(options, extension.WithField(coordinate, field))
	}
	server.Use(extension.New(registry, options...))
	return registry
}

// enforced abandons an attempt that ignores its timeout.
func enforced(timeout time.Duration) policy.Spec {
	return policy.Spec{Timeout: &policy.TimeoutSpec{Duration: &timeout, Mode: new(policy.Enforced)}}
}

// cooperative waits for an attempt that ignores its timeout.
func cooperative(timeout time.Duration) policy.Spec {
	return policy.Spec{Timeout: &policy.TimeoutSpec{Duration: &timeout, Mode: new(policy.Cooperative)}}
}

// untimed has no timeout.
func untimed() policy.Spec {
	return policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1000)}}
}

// retrying is spec with that many attempts and no wait between them.
func retrying(spec policy.Spec, attempts int) policy.Spec {
	spec.Retry = &policy.RetrySpec{Attempts: &attempts, Backoff: &policy.BackoffSpec{Delay: new(time.Duration(0))}}
	return spec
}

// breaking is spec with a breaker that counts and, in these tests, never opens.
func breaking(spec policy.Spec) policy.Spec {
	spec.CircuitBreaker = &policy.CircuitBreakerSpec{MinimumCalls: new(100), Window: policy.CountWindow(100)}
	return spec
}

// failures returns how many failures the breaker of that name counts.
func failures(t testing.TB, registry *policy.Registry, breaker string) int {
	t.Helper()
	b, ok := registry.CircuitBreaker(breaker)
	require.True(t, ok, "no breaker %q", breaker)
	return b.Stats().Failures
}

// inEachMode runs a test once per mode of hooking in and way to run attempts, in a bubble.
func inEachMode(t *testing.T, timeout time.Duration, test func(t *testing.T, h hook, spec policy.Spec)) {
	t.Helper()
	for mode, spec := range map[string]policy.Spec{
		"enforced": enforced(timeout), "cooperative": cooperative(timeout), "untimed": untimed(),
	} {
		t.Run(mode, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) { test(t, h, spec) })
		})
	}
}

// inBothTimedModes runs a test once per mode of hooking in with an enforced and a cooperative
// timeout of a second, in a bubble.
func inBothTimedModes(t *testing.T, test func(t *testing.T, h hook, spec policy.Spec)) {
	t.Helper()
	for mode, spec := range map[string]policy.Spec{"enforced": enforced(time.Second), "cooperative": cooperative(time.Second)} {
		t.Run(mode, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) { test(t, h, spec) })
		})
	}
}

// rawPost returns the body of a response, as it goes over the wire.
func rawPost(ctx context.Context, t testing.TB, server http.Handler, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, request)
	require.Equal(t, http.StatusOK, recorder.Code)
	return recorder.Body.String()
}

// requireTimeout checks that the response has that one error, with everything that it needs.
func requireTimeout(t testing.TB, response testgraph.Response, path string) {
	t.Helper()
	require.Len(t, response.Errors, 1, "%v", response.Errors)
	requireTimeoutError(t, response.Errors[0], path)
}

func requireTimeoutError(t testing.TB, err *gqlerror.Error, path string) {
	t.Helper()
	require.Equal(t, path, err.Path.String())
	require.Equal(t, "The operation timed out", err.Message)
	require.Equal(t, map[string]any{"code": gqlerrors.CodeTimeout, "httpStatus": 504.0}, err.Extensions)
	require.Len(t, err.Locations, 1)
	require.Positive(t, err.Locations[0].Line)
	require.Positive(t, err.Locations[0].Column)
}

// requireQuiet checks that what was abandoned comes to its end.
func requireQuiet(t testing.TB, registry *policy.Registry) {
	t.Helper()
	require.NoError(t, registry.Wait(t.Context()))
	require.Zero(t, registry.Abandoned())
}

// notes is a list that resolvers on several goroutines write to.
type notes[T any] struct {
	mu  sync.Mutex
	all []T
}

func (n *notes[T]) add(note T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, note)
}

func (n *notes[T]) list() []T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]T(nil), n.all...)
}
