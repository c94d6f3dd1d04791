package extension_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// A field that is marked non-null takes its parent along when it fails.
func TestAFieldIsNonNullByTheMarkOfTheAttemptThatAnswersAlone(t *testing.T) {
	for name, row := range map[string]struct {
		outside  bool // a middleware before the policy marks the field
		marks    int  // the attempt that marks it; 0: none
		fallback bool // one that fails
		taken    bool // the parent
	}{
		"no mark":                                {},
		"of the last":                            {marks: 2, taken: true},
		"not of one before":                      {marks: 1},
		"not of one that a fallback answers for": {marks: 2, fallback: true},
		"of a middleware":                        {outside: true, taken: true},
		"of a middleware, before a fallback":     {outside: true, fallback: true, taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
				stub := stubOf("1")
				stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
					if policy.AttemptFromContext(ctx) == row.marks {
						graphql.MarkNonNull(ctx)
					}
					return nil, errDown
				}
				server := h.server(stub)
				server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
					if row.outside && graphql.GetFieldContext(ctx).Field.Name == "slow" {
						graphql.MarkNonNull(ctx)
					}
					return next(ctx)
				})
				var options []extension.Option
				if row.fallback {
					options = append(options, extension.WithFallback("Item.slow", func(context.Context, error) (*string, error) { return nil, errors.New("no cache") }))
				}
				protectServer(t, server, specs{"Item.slow": retrying(spec, 2)}, options...)
				response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
				require.Len(t, response.Errors, 1)
				require.Equal(t, row.taken, response.Data["item"] == nil)
			})
		})
	}
}

func TestAGuardThatIsCalledFromGoDoesNotMarkTheFieldThatCallsIt(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		guarded := testgraph.Guard(stub)
		var seen notes[string]
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			if _, err := guarded.Other().Slow(ctx, &model.Other{}); err != nil {
				return nil, err
			}
			return nil, errDown
		}
		stub.OtherResolver.Slow = func(ctx context.Context, _ *model.Other) (*string, error) {
			seen.add(graphql.GetPath(ctx).String())
			graphql.MarkNonNull(ctx)
			if policy.AttemptFromContext(ctx) == 1 {
				return nil, errors.New("not yet")
			}
			return new("slow"), nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Other.slow": retrying(spec, 2)})
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
		require.Equal(t, []string{"item.slow: " + errDown.Error()}, messages(response))
		require.Equal(t, map[string]any{"item": map[string]any{"slow": nil}}, response.Data)
		require.Equal(t, []string{"item.slow", "item.slow"}, seen.list())
	})
}

func TestAFieldKeepsTheMarkThatItMakesBesideACallFromGo(t *testing.T) {
	inEachMode(t, time.Minute, func(t *testing.T, h hook, spec policy.Spec) {
		begun, marked := make(chan struct{}), make(chan struct{})
		stub := stubOf("1")
		guarded := testgraph.Guard(stub)
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			called := make(chan struct{})
			go func() {
				defer close(called)
				_, _ = guarded.Query().Text(ctx)
			}()
			<-begun
			graphql.MarkNonNull(ctx)
			marked <- struct{}{}
			<-called
			return nil, errDown
		}
		stub.QueryResolver.Text = func(context.Context) (*string, error) {
			begun <- struct{}{}
			<-marked
			return nil, errors.New("text")
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.text": spec}, answerWith("Query.text", new("cached")))
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow } }`)
		require.Equal(t, []string{"item.slow: " + errDown.Error()}, messages(response))
		require.Equal(t, map[string]any{"item": nil}, response.Data)
	})
}

func TestAFieldOfAServerThatAResolverAsksIsMarkedByItsOwnResolver(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			graphql.MarkNonNull(ctx)
			return nil, errDown
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.text": spec, "Item.slow": spec})
		var answer testgraph.Response
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			answer = testgraph.Post(ctx, t, server, `{ item(id: "1") { slow } }`)
			return nil, nil
		}
		require.Empty(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors)
		require.Equal(t, map[string]any{"item": nil}, answer.Data)
	})
}
