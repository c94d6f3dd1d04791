package extension_test

import (
	"cmp"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestGuardedFieldInADeferredGroup(t *testing.T) {
	const timedOut = "item.slow: The operation timed out"
	for name, test := range map[string]struct {
		resolve  func(ctx context.Context) (string, error)
		fallback bool
		want     any
		message  string
		took     time.Duration
		ofGuard  time.Duration // default: took
	}{
		"value": {
			resolve: func(context.Context) (string, error) { return "fine", nil }, want: "fine",
		},
		"value of a retry": {
			resolve: func(ctx context.Context) (string, error) {
				if policy.AttemptFromContext(ctx) == 1 {
					return "", errDown
				}
				return "again", nil
			}, want: "again",
		},
		"error": {
			resolve: func(context.Context) (string, error) { return "", errDown }, message: "item.slow: " + errDown.Error(),
		},
		"panic": {
			resolve: func(context.Context) (string, error) { panic("boom") }, message: "item.slow: panic: boom",
		},
		"timeout": {
			resolve: func(ctx context.Context) (string, error) { return "", untilCancelled(ctx) },
			message: timedOut, took: 2 * time.Second,
		},
		"timeout of a resolver that ignores it": {
			resolve: func(ctx context.Context) (string, error) {
				time.Sleep(time.Minute)
				graphql.AddErrorf(ctx, "late")
				return "late", nil
			},
			message: timedOut, took: 1010 * time.Millisecond, ofGuard: 2020 * time.Millisecond,
		},
		"fallback": {
			resolve:  func(ctx context.Context) (string, error) { return "", untilCancelled(ctx) },
			fallback: true, want: "fallback", took: 2 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				stub := stubOf("1")
				stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
					value, err := test.resolve(ctx)
					return &value, err
				}
				var options []extension.Option
				if test.fallback {
					options = append(options, extension.WithFallback("Item.slow", func(context.Context, error) (*string, error) {
						return new("fallback"), nil
					}))
				}
				server, registry := protectSchema(t, h.schema(stub), specs{"Item.slow": retrying(enforced(time.Second), 2)}, options...)
				start := time.Now()
				responses := testgraph.PostDeferred(t.Context(), t, server, `{ item(id: "1") { id ... @defer(label: "later") { slow } } }`)
				took := test.took
				if h.guarded {
					took = cmp.Or(test.ofGuard, took)
				}
				require.InDelta(t, took, time.Since(start), float64(5*time.Millisecond))
				require.Len(t, responses, 2)
				require.True(t, responses[0].HasNext)
				require.False(t, responses[1].HasNext)
				require.Equal(t, "later", responses[1].Label)
				require.Equal(t, map[string]any{"slow": test.want}, responses[1].Data)
				if test.message == "" {
					require.Empty(t, responses[1].Errors)
				} else {
					require.Equal(t, []string{test.message}, messages(responses[1]))
				}
				requireQuiet(t, registry)
			})
		})
	}
}

// gqlgen never delivers a deferred group whose context is cancelled, and waits for it for ever.
func TestGroupDeferredBelowAGuardedFieldIsDelivered(t *testing.T) {
	for name, resolve := range map[string]func(context.Context) (*model.Item, error){
		"of the resolver": func(ctx context.Context) (*model.Item, error) { return &model.Item{ID: "1"}, nil },
		"of a resolver that looked at Done": func(ctx context.Context) (*model.Item, error) {
			_ = derivedFrom(ctx)
			return &model.Item{ID: "1"}, nil
		},
		"of the fallback after an error": func(context.Context) (*model.Item, error) { return nil, errDown },
		"of the fallback after a timeout": func(ctx context.Context) (*model.Item, error) {
			return nil, untilCancelled(derivedFrom(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
				stub := stubOf("1")
				stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) { return resolve(ctx) }
				stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
					assertLive(t, ctx)
					return new("probed"), nil
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec},
					extension.WithFallback("Query.item", func(context.Context, error) (*model.Item, error) {
						return &model.Item{ID: "fallback"}, nil
					}))
				responses := testgraph.PostDeferred(requestContext(t), t, server,
					`{ item(id: "1") { id ... @defer(label: "a") { probe } ... @defer(label: "b") { again: probe } } }`)
				require.Len(t, responses, 3)
				require.False(t, responses[2].HasNext)
				for _, response := range responses {
					require.Empty(t, response.Errors)
				}
			})
		})
	}
}

// The group runs on when nobody asks for its response any more.
func TestDeferredFieldMayOutliveItsOperation(t *testing.T) {
	inEachMode(t, time.Hour, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		released, finished := make(chan struct{}), make(chan struct{})
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			done := derivedFrom(ctx).Done()
			go func() {
				<-done
				close(released)
			}()
			<-finished
			return nil, nil
		}
		schema := h.schema(stub)
		exec := executor.New(schema)
		exec.Use(extension.New(newRegistry(t, nil), extension.WithField("Item.slow", extension.Field{Spec: spec})))
		ctx := graphql.StartOperationTrace(t.Context())
		operation, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: `{ item(id: "1") { ... @defer { slow } } }`})
		require.Empty(t, errs)
		responses, ctx := exec.DispatchOperation(ctx, operation)
		require.True(t, *responses(ctx).HasNext)
		synctest.Wait()

		gone, cancel := context.WithCancel(ctx)
		cancel()
		require.Nil(t, responses(gone), "the client is gone")
		close(finished)
		<-released
	})
}
