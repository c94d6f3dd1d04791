package extension_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

func TestTheParentOfAField(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		var seen notes[string]
		note := func(ctx context.Context) {
			item, ok := extension.Parent[*model.Item](ctx)
			node, isNode := extension.Parent[model.Node](ctx)
			_, isOther := extension.Parent[*model.Other](ctx)
			if ok {
				seen.add(fmt.Sprintf("%s %t %t", item.ID, isNode && node == model.Node(item), isOther))
			} else {
				seen.add(fmt.Sprintf("none %t %t", isNode, isOther))
			}
		}
		stub := stubOf("1", "2")
		stub.QueryResolver.Nodes = func(context.Context) ([]model.Node, error) {
			return []model.Node{&model.Item{ID: "3"}, &model.Other{ID: "4"}}, nil
		}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) { note(ctx); return nil, errors.New("no parent") }
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { note(ctx); return nil, nil }
		stub.OtherResolver.Slow = func(ctx context.Context, _ *model.Other) (*string, error) { note(ctx); return nil, nil }
		server := serving(t, h.schema(stub), staleText())
		for query, want := range map[string][]string{
			`{ text }`:                 {"none false false"},
			`{ item(id: 1) { slow } }`: {"1 true false"},
			`{ node(id: 1) { slow } }`: {"1 true false"},
			`{ items { slow } }`:       {"1 true false", "2 true false"},
			`{ nodes { slow } }`:       {"3 true false", "none true true"},
		} {
			seen = notes[string]{}
			testgraph.Post(t.Context(), t, server, query)
			require.ElementsMatch(t, want, seen.list(), query)
		}
		_, ok := extension.Parent[*model.Item](t.Context())
		require.False(t, ok)
	})
}
