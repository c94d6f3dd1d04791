package extension_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// The middleware takes a directive for part of the resolver. A guard does not see it.
func TestDenialOfADirectiveIsAFailureInTheMiddlewareUnlessItsCodeSaysThatItIsTheClients(t *testing.T) {
	for name, test := range map[string]struct {
		denial           error
		checks, failures int
	}{
		"without a code":   {errors.New("denied"), 3, 3},
		"with some code":   {&gqlerror.Error{Message: "denied", Extensions: map[string]any{"code": "AUTH_SERVICE_DOWN"}}, 3, 3},
		"FORBIDDEN":        {&gqlerror.Error{Message: "denied", Extensions: map[string]any{"code": "FORBIDDEN"}}, 1, 0},
		"UNAUTHENTICATED":  {&gqlerror.Error{Message: "denied", Extensions: map[string]any{"code": "UNAUTHENTICATED"}}, 1, 0},
		"as client error":  {policy.AsClientError(errors.New("denied")), 1, 0},
		"as no worth more": {policy.Permanent(errors.New("denied")), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				checks := 0
				stub := &testgraph.Stub{}
				stub.HasRole = func(ctx context.Context, _ any, _ graphql.Resolver, role string) (any, error) {
					checks++
					if !h.guarded {
						assert.Equal(t, checks, policy.AttemptFromContext(ctx))
					}
					assert.Equal(t, "admin", role)
					return nil, test.denial
				}
				server, registry := protectSchema(t, h.schema(stub), specs{"Query.secret": breaking(retrying(enforced(time.Second), 3))})
				response := testgraph.Post(t.Context(), t, server, `{ secret }`)
				require.Equal(t, map[string]any{"secret": nil}, response.Data)
				require.Len(t, response.Errors, 1)
				require.Equal(t, "denied", response.Errors[0].Message)
				require.Equal(t, "secret", response.Errors[0].Path.String())
				if h.guarded {
					require.Equal(t, 1, checks)
					require.Zero(t, failures(t, registry, "Query.secret"))
					return
				}
				require.Equal(t, test.checks, checks)
				require.Equal(t, test.failures, failures(t, registry, "Query.secret"))
			})
		})
	}
}

func TestDirectiveRunsAgainWithTheResolverInTheMiddleware(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		var calls []string
		stub := &testgraph.Stub{}
		stub.HasRole = func(ctx context.Context, _ any, next graphql.Resolver, _ string) (any, error) {
			calls = append(calls, "directive")
			return next(ctx)
		}
		stub.QueryResolver.Secret = func(ctx context.Context) (*string, error) {
			calls = append(calls, "resolver")
			if policy.AttemptFromContext(ctx) == 1 {
				return nil, errDown
			}
			return new("told"), nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.secret": retrying(spec, 3)})
		response := testgraph.Post(t.Context(), t, server, `{ secret }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"secret": "told"}, response.Data)
		if h.guarded {
			require.Equal(t, []string{"directive", "resolver", "resolver"}, calls)
		} else {
			require.Equal(t, []string{"directive", "resolver", "directive", "resolver"}, calls)
		}
	})
}

// An inner interceptor runs inside each attempt, and before gqlgen has seen its context: that
// it is running says nothing about whether gqlgen's variable may be read. A guard runs inside of it.
func TestInnerInterceptorMayBlockBeforeItCallsNext(t *testing.T) {
	const grace = 10 * time.Millisecond
	for name, test := range map[string]struct {
		coordinate, query, path string
		blocks                  time.Duration
		want                    map[string]any
		took                    time.Duration
	}{
		"nullable": {"Query.items", `items { id }`, "items", time.Minute, map[string]any{"items": nil}, time.Second + grace},
		"non-null": {"Query.strictText", `strictText`, "strictText", time.Minute, nil, time.Second + grace},
		"any":      {"Query.anyBy", `anyBy`, "anyBy", time.Minute, map[string]any{"anyBy": nil}, time.Second + grace},
		"non-null any, which must know that the variable is written": {
			"Query.strictAnyBy", `strictAnyBy`, "strictAnyBy", time.Minute, nil, time.Minute,
		},
		"non-null any, when it is written before the time is up": {
			"Query.strictAnyBy", `strictAnyBy`, "strictAnyBy", time.Second / 2, nil, time.Second + grace,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := &testgraph.Stub{}
				stub.QueryResolver.StrictText = func(context.Context) (string, error) { time.Sleep(time.Hour); return "late", nil }
				stub.QueryResolver.AnyBy = func(context.Context, *int) (any, error) { time.Sleep(time.Hour); return "late", nil }
				stub.QueryResolver.StrictAnyBy = stub.QueryResolver.AnyBy
				server := testgraph.NewServer(stub)
				var took time.Duration
				server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
					start := time.Now()
					defer func() { took = time.Since(start) }()
					return next(ctx)
				})
				registry := protectServer(t, server, specs{test.coordinate: enforced(time.Second)})
				server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
					_, _ = graphql.GetFieldContext(ctx), ctx.Err()
					time.Sleep(test.blocks)
					return next(ctx)
				})
				response := testgraph.Post(t.Context(), t, server, `{ `+test.query+` }`)
				requireTimeout(t, response, test.path)
				require.Equal(t, test.want, response.Data)
				require.Equal(t, test.took, took)
				requireQuiet(t, registry)
			})
		})
	}
}

func TestInnerInterceptorMayAnswerWithoutCallingNext(t *testing.T) {
	for name, test := range map[string]struct {
		answer any
		err    error
		want   map[string]any
	}{
		"with a value":  {"cached", nil, map[string]any{"strictAny": "cached"}},
		"with an error": {nil, errDown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server, _ := protectSchema(t, h.schema(&testgraph.Stub{}), specs{"Query.strictAny": enforced(time.Second)})
				server.AroundFields(func(ctx context.Context, _ graphql.Resolver) (any, error) {
					return test.answer, test.err
				})
				response := testgraph.Post(t.Context(), t, server, `{ strictAny }`)
				require.Equal(t, test.want, response.Data)
				if test.err == nil {
					require.Empty(t, response.Errors)
					return
				}
				require.Len(t, response.Errors, 1)
				require.Equal(t, test.err.Error(), response.Errors[0].Message)
				require.Equal(t, "strictAny", response.Errors[0].Path.String())
			})
		})
	}
}
