package extension_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestResolverThatObeysItsTimeoutIsRetried(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		var attempts []int
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			assert.NoError(t, ctx.Err())
			attempts = append(attempts, policy.AttemptFromContext(ctx))
			if len(attempts) < 3 {
				return nil, untilCancelled(ctx)
			}
			return new("at last"), nil
		}
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.text": breaking(retrying(spec, 3))})
		start := time.Now()
		response := testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"text": "at last"}, response.Data)
		require.Equal(t, 2*time.Second, time.Since(start))
		require.Equal(t, []int{1, 2, 3}, attempts)
		require.Equal(t, 2, failures(t, registry, "Query.text"))
		require.Zero(t, registry.Abandoned())
	})
}

func TestResolverThatObeysWithinTheGraceIsNotAbandoned(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		attempts := 0
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			attempts++
			<-ctx.Done()
			time.Sleep(9 * time.Millisecond)
			return new("too late"), nil
		}
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.text": retrying(enforced(time.Second), 2)})
		requireTimeout(t, testgraph.Post(t.Context(), t, server, `{ text }`), "text")
		require.Equal(t, 2, attempts)
		require.Zero(t, registry.Abandoned())
	})
}

func TestTimeoutOfAnObedientResolverIsReportedLikeAnyFailure(t *testing.T) {
	for name, test := range map[string]struct {
		query, path string
		want        map[string]any
	}{
		"nullable": {
			`{ items { id quotes { price } } }`, "items[0].quotes",
			map[string]any{"items": []any{map[string]any{"id": "1", "quotes": nil}}},
		},
		"under an alias": {
			`{ items { id q: quotes { price } } }`, "items[0].q",
			map[string]any{"items": []any{map[string]any{"id": "1", "q": nil}}},
		},
		"non-null": {
			`{ items { id strictQuotes { price } } }`, "items[0].strictQuotes", map[string]any{"items": nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
				stub := stubOf("1")
				stub.ItemResolver.Quotes = func(ctx context.Context, _ *model.Item) ([]*model.Quote, error) {
					return nil, fmt.Errorf("calling the dependency: %w", untilCancelled(ctx))
				}
				stub.ItemResolver.StrictQuotes = stub.ItemResolver.Quotes
				server, _ := protectSchema(t, h.schema(stub), specs{"Item.quotes": spec, "Item.strictQuotes": spec})
				response := testgraph.Post(t.Context(), t, server, test.query)
				requireTimeout(t, response, test.path)
				require.Equal(t, test.want, response.Data)
			})
		})
	}
}

func TestTimeoutOfAnObedientResolverIsReplacedByTheFallback(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		stub.ItemResolver.Quotes = func(ctx context.Context, _ *model.Item) ([]*model.Quote, error) {
			return nil, untilCancelled(ctx)
		}
		var given error
		server, _ := protectSchema(t, h.schema(stub), specs{"Item.quotes": spec},
			extension.WithFallback("Item.quotes", func(_ context.Context, err error) ([]*model.Quote, error) {
				given = err
				return []*model.Quote{{Service: "flat rate"}}, nil
			}))
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { quotes { service } } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, map[string]any{"item": map[string]any{"quotes": []any{map[string]any{"service": "flat rate"}}}}, response.Data)
		require.ErrorIs(t, given, policy.ErrTimeout)
		require.ErrorIs(t, given, context.DeadlineExceeded)
	})
}

func TestAliasesOfOneFieldFailEachForItself(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(context.Context) (*string, error) { return nil, policy.Permanent(errDown) }
		stub.QueryResolver.Any = func(ctx context.Context) (any, error) { time.Sleep(2 * time.Second); return nil, errDown }
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.text": spec, "Query.any": enforced(time.Second)})
		query, want := "{", []string{}
		for i := range 10 {
			query += fmt.Sprintf(" a%d: text b%d: any", i, i)
			want = append(want, fmt.Sprintf("a%d %s", i, errDown), fmt.Sprintf("b%d The operation timed out", i))
		}
		response := testgraph.Post(t.Context(), t, server, query+" }")
		var got []string
		for _, err := range response.Errors {
			got = append(got, err.Path.String()+" "+err.Message)
			require.Len(t, err.Locations, 1)
		}
		require.ElementsMatch(t, want, got)
		require.Len(t, response.Data, 20)
		requireQuiet(t, registry)
	})
}

func TestMutationIsRetriedOnlyWhereItIsIdempotent(t *testing.T) {
	for idempotent, want := range map[bool]int{false: 1, true: 3} {
		t.Run(fmt.Sprint(idempotent), func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				attempts := 0
				stub := &testgraph.Stub{}
				stub.MutationResolver.Save = func(context.Context, *int) (*string, error) {
					attempts++
					return nil, errDown
				}
				server := h.server(stub)
				server.Use(extension.New(newRegistry(t, presets{"saving": retrying(cooperative(time.Second), 3)}),
					extension.WithField("Mutation.save", extension.Field{Preset: "saving", Idempotent: &idempotent})))
				require.Len(t, testgraph.Post(t.Context(), t, server, `mutation { save }`).Errors, 1)
				require.Equal(t, want, attempts)
			})
		})
	}
}

// Root fields of a mutation run one after the other, so one that ignores its timeout is waited
// for.
func TestMutationsDoNotOverlap(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		var calls []string
		stub := &testgraph.Stub{}
		stub.MutationResolver.Save = func(context.Context, *int) (*string, error) {
			time.Sleep(time.Minute)
			calls = append(calls, "saved")
			return new("saved"), nil
		}
		stub.MutationResolver.Remove = func(context.Context, *int) (*string, error) {
			calls = append(calls, "removed")
			return new("removed"), nil
		}
		server := h.server(stub)
		registry := newRegistry(t, presets{"slow": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}})
		server.Use(extension.New(registry, underPreset("Mutation.save", "slow")))
		response := testgraph.Post(t.Context(), t, server, `mutation { save remove }`)
		requireTimeout(t, response, "save")
		require.Equal(t, map[string]any{"save": nil, "remove": "removed"}, response.Data)
		require.Equal(t, []string{"saved", "removed"}, calls)
	})
}
