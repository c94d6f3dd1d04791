package plugin_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/tempmodule"
	"github.com/gqlresilience/gqlresilience/schema/plugin"
)

func TestGuardsCompileInEveryLayout(t *testing.T) {
	tempmodule.New(t, os.DirFS("testdata"))
	for _, layout := range []struct {
		directory string
		exec      string
		options   []plugin.Option
		want      []string
	}{
		{directory: "single", exec: ".", want: []string{
			"Guarded.root", "Mutation.save",
			"Query.any", "Query.blank", "Query.hiding", "Query.hidingItem", "Query.node", "Query.queryResolver", "Query.unguardedQueryResolver",
			"Root.root", "Subscription.boxes", "box.weight",
		}},
		{directory: "follow", exec: "graph", want: []string{
			"Mutation.save", "Order.quotes", "Order.single", "Query.orders",
		}},
		{directory: "federated", exec: "graph", want: []string{
			"Entity.findManyWarehouseByIDs", "Entity.findProductByID", "Entity.findProductBySku",
			"Product.size", "Subscription.products", "Warehouse.load", "Warehouse.stock",
		}},
		{directory: "elsewhere/config", exec: "..", options: []plugin.Option{plugin.GuardAll()}, want: []string{
			"G.more", "ResolverRoot.resolverRootResolver",
			"Root.bound", "Root.context", "Root.g", "Root.resilience", "Root.resolverRoot",
		}},
		{directory: "bound", exec: "graph", want: []string{"Order.batched", "Order.status"}},
		{directory: "unguarded", exec: "."},
	} {
		t.Run(layout.directory, func(t *testing.T) {
			t.Chdir(layout.directory)

			require.NoError(t, generate(t, layout.options...))

			assert.Equal(t, layout.want, guardedFields(t, layout.exec))
		})
	}
	tempmodule.Go(t, "vet", "./...")
}
