package extension_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// recoveredPanic is what a server's recover function was called with.
type recoveredPanic struct {
	value any
	path  string
	stack string
}

func recoveredPanics(server *handler.Server) *notes[recoveredPanic] {
	panics := &notes[recoveredPanic]{}
	server.SetRecoverFunc(func(ctx context.Context, value any) error {
		panics.add(recoveredPanic{value, graphql.GetPath(ctx).String(), string(debug.Stack())})
		return fmt.Errorf("panic: %v", value)
	})
	return panics
}

// requirePanic checks that the recover function saw one panic, where the resolver raised it.
func requirePanic(t testing.TB, panics *notes[recoveredPanic], value any, path string) {
	t.Helper()
	all := panics.list()
	require.Len(t, all, 1)
	require.Equal(t, value, all[0].value)
	require.Equal(t, path, all[0].path)
	require.Contains(t, all[0].stack, "testgraph.(*stub", "the stack is not the resolver's")
}

// permits is spec with a bulkhead of one slot and a breaker.
func permits(spec policy.Spec) policy.Spec {
	spec = breaking(spec)
	spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(1)}
	return spec
}

func requirePermitsBack(t testing.TB, registry *policy.Registry, name string, failed int) {
	t.Helper()
	bulkhead, ok := registry.Bulkhead(name)
	require.True(t, ok)
	require.Zero(t, bulkhead.Running(), "slots are still taken")
	require.Equal(t, failed, failures(t, registry, name))
}

func TestPanicIsTheFailureOfItsField(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		attempts := 0
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			attempts++
			time.Sleep(time.Second / 2)
			panic("boom")
		}
		server := h.server(stub)
		panics := recoveredPanics(server)
		registry := protectServer(t, server, specs{"Item.slow": permits(retrying(spec, 3))})
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { id slow } }`)
		require.Equal(t, map[string]any{"item": map[string]any{"id": "1", "slow": nil}}, response.Data)
		require.Len(t, response.Errors, 1)
		require.Equal(t, "panic: boom", response.Errors[0].Message)
		require.Equal(t, "item.slow", response.Errors[0].Path.String())
		require.Equal(t, 1, attempts)
		requirePanic(t, panics, "boom", "item.slow")
		requirePermitsBack(t, registry, "Item.slow", 1)
	})
}

func TestPanicAtItsTimeIsATimeout(t *testing.T) {
	for name, after := range map[string]struct {
		grace     time.Duration
		abandoned bool
	}{
		"within the grace":    {5 * time.Millisecond, false},
		"after the abandoned": {time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				stub := stubOf("1")
				stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
					<-ctx.Done()
					time.Sleep(after.grace)
					panic("boom")
				}
				server := h.server(stub)
				panics := recoveredPanics(server)
				registry := protectServer(t, server, specs{"Item.slow": permits(enforced(time.Second))})
				requireTimeout(t, testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`), "item.slow")
				require.Equal(t, after.abandoned, registry.Abandoned() == 1)
				requireQuiet(t, registry)
				requirePanic(t, panics, "boom", "item.slow")
				requirePermitsBack(t, registry, "Item.slow", 1)
			})
		})
	}
}

func TestFallbackAnswersForAPanic(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { panic(errDown) }
		server := h.server(stub)
		panics := recoveredPanics(server)
		var given error
		protectServer(t, server, specs{"Item.slow": enforced(time.Second)},
			extension.WithFallback("Item.slow", func(_ context.Context, err error) (*string, error) {
				given = err
				return new("fallback"), nil
			}))
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"item": map[string]any{"slow": "fallback"}}, response.Data)
		requirePanic(t, panics, errDown, "item.slow")
		var panicked *policy.PanicError
		require.ErrorAs(t, given, &panicked)
		require.ErrorIs(t, given, errDown)
	})
}

func TestFallbackAnswersForWhatTheRecoverFunctionMakesOfAPanic(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.server(textStub(func(context.Context) (*string, error) { panic("boom") }))
		server.SetRecoverFunc(func(context.Context, any) error { return errDown })
		protectServer(t, server, specs{"Query.text": enforced(time.Second)},
			extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return new("fallback"), nil }, extension.When(errDown)))
		require.Equal(t, map[string]any{"text": "fallback"}, testgraph.Post(t.Context(), t, server, `{ text }`).Data)
	})
}

func TestPanicOfAPresenterIsThatOfItsField(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.StrictAny = func(ctx context.Context) (any, error) {
			graphql.AddErrorf(ctx, "beside it")
			return "any", nil
		}
		server := h.server(stub)
		panics := recoveredPanics(server)
		server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
			if len(panics.list()) == 0 {
				panic("presenter")
			}
			return graphql.DefaultErrorPresenter(ctx, err)
		})
		protectServer(t, server, specs{"Query.strictAny": enforced(time.Second)})
		require.Equal(t, "panic: presenter", testgraph.Post(t.Context(), t, server, `{ strictAny }`).Errors[0].Message)
	})
}

func TestPanicOfWhichTheRecoverFunctionMakesNothingIsAnError(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.server(textStub(func(context.Context) (*string, error) { panic("boom") }))
		server.SetRecoverFunc(func(context.Context, any) error { return nil })
		protectServer(t, server, specs{"Query.text": enforced(time.Second)})
		require.Equal(t, []string{"text: internal system error"}, messages(testgraph.Post(t.Context(), t, server, `{ text }`)))
	})
}

func TestPanicOfAFallbackIsThatOfItsField(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { return nil, errDown }
		server := h.server(stub)
		panics := recoveredPanics(server)
		registry := protectServer(t, server, specs{"Item.slow": permits(spec)},
			extension.WithFallback("Item.slow", func(context.Context, error) (*string, error) { panic("boom") }))
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { id slow } }`)
		require.Equal(t, map[string]any{"item": map[string]any{"id": "1", "slow": nil}}, response.Data)
		require.Len(t, response.Errors, 1)
		require.Equal(t, "panic: boom", response.Errors[0].Message)
		require.Len(t, panics.list(), 1)
		requirePermitsBack(t, registry, "Item.slow", 1)
	})
}

func TestResolverThatEndsItsGoroutineHasFailed(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			runtime.Goexit()
			return nil, nil
		}
		stub.ItemResolver.Probe = func(context.Context, *model.Item) (*string, error) { return new("intact"), nil }
		server, registry := protectSchema(t, h.schema(stub), specs{"Item.slow": permits(enforced(time.Second))})
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow probe } }`)
		require.Equal(t, map[string]any{"item": map[string]any{"slow": nil, "probe": "intact"}}, response.Data)
		require.Len(t, response.Errors, 1)
		require.Equal(t, "item.slow", response.Errors[0].Path.String())
		requirePermitsBack(t, registry, "Item.slow", 1)
	})
}

// A recover function that panics itself does so as without the extension: on the goroutine
// that gqlgen guards.
func TestPanicOfTheRecoverFunctionDoesNotKillTheProcess(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { panic("boom") }
		server := h.server(stub)
		calls := 0
		server.SetRecoverFunc(func(context.Context, any) error {
			if calls++; calls == 1 {
				panic("in the recover function")
			}
			return errDown
		})
		registry := protectServer(t, server, specs{"Item.slow": permits(enforced(time.Second))})
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
		require.Len(t, response.Errors, 1)
		requirePermitsBack(t, registry, "Item.slow", 1)
	})
}

// Before it reports that null, gqlgen's variable must have been written or the attempt be over.
func TestPanicOfTheRecoverFunctionEndsAFieldThatTakesNull(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.StrictAny = func(context.Context) (any, error) { panic("boom") }
		server := h.server(stub)
		calls := 0
		server.SetRecoverFunc(func(context.Context, any) error {
			if calls++; calls == 1 {
				panic("in the recover function")
			}
			return errDown
		})
		protectServer(t, server, specs{"Query.strictAny": enforced(time.Second)})
		response := testgraph.Post(t.Context(), t, server, `{ strictAny }`)
		require.Nil(t, response.Data)
		require.NotEmpty(t, response.Errors)
	})
}

// serveRaised serves a request and returns the panic that came out of gqlgen, if one did.
func serveRaised(t *testing.T, h hook, stub *testgraph.Stub, fields specs, query string) (raised any, registry *policy.Registry) {
	t.Helper()
	server := testgraph.Serve(h.noPanicSchema(stub))
	fieldPanics := 0
	server.SetRecoverFunc(func(_ context.Context, value any) error { // gqlgen's handler catches what is left
		fieldPanics++
		raised = value
		return errDown
	})
	registry = protectServer(t, server, fields)
	testgraph.Post(t.Context(), t, server, query)
	require.LessOrEqual(t, fieldPanics, 1)
	return raised, registry
}

func TestWithoutAPanicHandlerAPanicIsRaisedAgain(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { panic(errDown) }
		raised, registry := serveRaised(t, h, stub, specs{"Item.slow": permits(retrying(spec, 3))}, `{ item(id: "1") { slow } }`)
		if panicked, ok := raised.(*policy.PanicError); ok { // it ran on a goroutine of its own
			require.ErrorIs(t, panicked, errDown)
			require.True(t, strings.Contains(string(panicked.Stack), "nopanic.(*stubItem).Slow"), "%s", panicked.Stack)
			raised = panicked.Value
		}
		require.Equal(t, errDown, raised)
		requirePermitsBack(t, registry, "Item.slow", 1)
	})
}

func TestWithoutAPanicHandlerThePanicOfAnAbandonedAttemptIsNotRaised(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			time.Sleep(time.Minute)
			panic(errDown)
		}
		raised, registry := serveRaised(t, h, stub, specs{"Item.slow": permits(enforced(time.Second))}, `{ item(id: "1") { slow } }`)
		require.Nil(t, raised)
		requireQuiet(t, registry)
		requirePermitsBack(t, registry, "Item.slow", 1)
	})
}

func TestRecoverFunctionCannotReachTheResponseFromAnAbandonedAttempt(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1")
		stub.QueryResolver.Text = func(context.Context) (*string, error) { // keeps the operation open
			time.Sleep(2 * time.Minute)
			return nil, nil
		}
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			time.Sleep(time.Minute)
			panic("boom")
		}
		server := h.server(stub)
		recovered := 0
		server.SetRecoverFunc(func(ctx context.Context, _ any) error {
			recovered++
			graphql.AddErrorf(ctx, "late")
			graphql.RegisterExtension(ctx, "late", true)
			return errDown
		})
		registry := protectServer(t, server, specs{"Item.slow": enforced(time.Second)})
		response := testgraph.Post(t.Context(), t, server, `{ text item(id: "1") { slow } }`)
		requireTimeout(t, response, "item.slow")
		require.Empty(t, response.Extensions)
		requireQuiet(t, registry)
		require.Equal(t, 1, recovered)
	})
}
