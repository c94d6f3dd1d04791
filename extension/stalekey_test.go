package extension_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestNobodyIsServedTheStaleAnswerOfAnother(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		d := &dependency{}
		server := serving(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
			user, _ := ctx.Value(userKey{}).(string)
			return d.answer(user)
		})), extension.WithStale("Query.text", extension.Stale{MaxAge: time.Hour, MaxEntries: 9, Key: byUser}))
		text := func(ctx context.Context) any { return testgraph.Post(ctx, t, server, `{ text }`).Data["text"] }
		require.Equal(t, "ann 1", text(as(t, "ann")))
		require.Equal(t, "bob 2", text(as(t, "bob")))
		require.Equal(t, " 3", text(t.Context()))
		d.goes(errDown)
		require.Equal(t, "ann 1", text(as(t, "ann")))
		require.Equal(t, "bob 2", text(as(t, "bob")))
		require.Nil(t, text(as(t, "eve")))
		require.Nil(t, text(t.Context()), "a call without a key is neither kept nor served")
	})
}

func TestTheKeySeesArgumentsAndParent(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		d := &dependency{}
		stub := stubOf("1", "2")
		stub.ItemResolver.QuotesFor = func(_ context.Context, item *model.Item, weight *int) ([]*model.Quote, error) {
			service, err := d.answer(fmt.Sprintf("item %s, %d kg", item.ID, *weight))
			if err != nil {
				return nil, err
			}
			*weight = -1 // after the key was made
			return []*model.Quote{{Service: *service}}, nil
		}
		server := serving(t, h.schema(stub), extension.WithStale("Item.quotesFor", extension.Stale{MaxAge: time.Hour, MaxEntries: 9,
			Key: func(ctx context.Context, args map[string]any) (string, bool) {
				item, ok := extension.Parent[*model.Item](ctx)
				return fmt.Sprintf("%s, %d", item.ID, *args["weight"].(*int)), ok
			}}), extension.WithoutDegraded())
		ask := func() []string {
			var services []string
			response := testgraph.Post(t.Context(), t, server, `{ items { light: quotesFor(weight: 1) { service } heavy: quotesFor(weight: 5) { service } } }`)
			for _, item := range response.Data["items"].([]any) {
				for _, alias := range []string{"light", "heavy"} {
					service := item.(map[string]any)[alias].([]any)[0].(map[string]any)["service"].(string)
					services = append(services, service)
				}
			}
			return services
		}
		fresh := ask()
		require.Contains(t, fresh[0], "item 1, 1 kg")
		require.Contains(t, fresh[3], "item 2, 5 kg")
		d.goes(errDown)
		require.Equal(t, fresh, ask())
	})
}

func TestAnItemOfAListIsAnsweredByItsOwnStaleValue(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2", "3")
		failing := ""
		stub.ItemResolver.Slow = func(_ context.Context, item *model.Item) (*string, error) {
			if item.ID == failing {
				return nil, errDown
			}
			return new("slow " + item.ID), nil
		}
		server := serving(t, h.schema(stub), extension.WithStale("Item.slow", extension.Stale{MaxAge: time.Hour, MaxEntries: 9, Key: byItem}))
		const data = `{"data":{"items":[{"slow":"slow 1"},{"slow":"slow 2"},{"slow":"slow 3"}]}`
		require.Equal(t, data+`}`, rawPost(t.Context(), t, server, `{ items { slow } }`))
		failing = "2"
		require.Equal(t, data+`,"extensions":{"degraded":[{"path":["items",1,"slow"],"code":"INTERNAL","age":0}]}}`,
			rawPost(t.Context(), t, server, `{ items { slow } }`))
		require.Equal(t, `{"data":{"item":{"slow":"slow 1"}}}`, rawPost(t.Context(), t, server, `{ item(id: 1) { slow } }`))
	})
}

func TestEachItemOfABatchIsAnsweredByItsOwnStaleValueWithoutAGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := stubOf("1", "2")
		down := false
		stub.ItemResolver.Stock = func(_ context.Context, items []*model.Item) ([]*int, error) {
			if down {
				return nil, errDown
			}
			stock := make([]*int, len(items))
			for i := range items {
				stock[i] = new(10 * (i + 1))
			}
			return stock, nil
		}
		server := serving(t, testgraph.NewSchema(stub), extension.WithStale("Item.stock", extension.Stale{MaxAge: time.Hour, MaxEntries: 9, Key: byItem}), extension.WithoutDegraded())
		for range 2 {
			require.Equal(t, `{"data":{"items":[{"stock":10},{"stock":20}]}}`, rawPost(t.Context(), t, server, `{ items { stock } }`))
			down = true
		}
	})
}

func TestAKeysPanicIsTheFieldsPanic(t *testing.T) {
	for mode, spec := range map[string]policy.Spec{"enforced": enforced(time.Second), "cooperative": cooperative(time.Second)} {
		t.Run(mode, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := serving(t, h.schema(textStub(answering("up"))), underSpec(spec), extension.WithStale("Query.text",
					extension.Stale{MaxAge: time.Hour, MaxEntries: 1, Key: func(context.Context, map[string]any) (string, bool) { panic("key") }}))
				require.Equal(t, `{"errors":[{"message":"panic: key","path":["text"]}],"data":{"text":null,"__typename":"Query"}}`,
					rawPost(t.Context(), t, server, `{ text __typename }`))
			})
		})
	}
}

// Such as those of two tenants.
func TestServersOfOtherResolversDoNotShareStaleAnswers(t *testing.T) {
	shared := extension.New(newRegistry(t, nil), staleText())
	schema := testgraph.NewSchema(textStub(answering("first")))
	require.Empty(t, use(t, schema, shared))
	require.Empty(t, use(t, schema, shared))
	require.Equal(t, "gqlresilience:\n"+`WithStale("Query.text"): two executable schemas would share the values: give each an extension of its own, with the same registry`,
		use(t, testgraph.NewSchema(textStub(answering("second"))), shared))

	variant := testgraph.Serve(withSchema(textStub(failing(errDown)), variantOf(t, schema.Schema())))
	variant.Use(shared)
	first := testgraph.Serve(schema)
	first.Use(shared)
	testgraph.Post(t.Context(), t, first, `{ text }`)
	require.Len(t, testgraph.Post(t.Context(), t, variant, `{ text }`).Errors, 1)
}

// A guard that is called from Go, within another field, can't tell what its arguments are.
func TestAResolverCalledFromAnotherIsNeitherKeptNorServedStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dependency{}
		stub := textStub(d.text)
		guarded := testgraph.Guard(stub)
		stub.QueryResolver.StrictText = func(ctx context.Context) (string, error) {
			text, err := guarded.Query().Text(ctx)
			if err != nil {
				return "", err
			}
			return *text, nil
		}
		server := serving(t, testgraph.NewGuardedSchema(stub), staleText())
		require.Equal(t, `{"data":{"strictText":"text 1"}}`, rawPost(t.Context(), t, server, `{ strictText }`))
		d.goes(errDown)
		require.Len(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors, 1)
		require.Len(t, testgraph.Post(t.Context(), t, server, `{ strictText }`).Errors, 1)
	})
}

func TestAGuardThatItsOwnFieldCallsFromGoHasNoKey(t *testing.T) {
	stub := stubOf("parent")
	down := false
	guarded := testgraph.Guard(stub)
	stub.ItemResolver.Slow = func(ctx context.Context, item *model.Item) (*string, error) {
		if item.ID != "parent" {
			if item.ID == "child B" && down {
				return nil, errDown
			}
			return &item.ID, nil
		}
		first, err := guarded.Item().Slow(ctx, &model.Item{ID: "child A"})
		if err != nil {
			return nil, err
		}
		second, err := guarded.Item().Slow(ctx, &model.Item{ID: "child B"})
		if err != nil {
			return nil, err
		}
		return new(*first + " and " + *second), nil
	}
	server := serving(t, testgraph.NewGuardedSchema(stub), extension.WithoutDegraded(),
		extension.WithStale("Item.slow", extension.Stale{MaxAge: time.Hour, MaxEntries: 9, Key: byItem}))
	for range 2 {
		require.Equal(t, `{"data":{"item":{"slow":"child A and child B"}}}`, rawPost(t.Context(), t, server, `{ item(id: 1) { slow } }`))
		down = true
	}
}
