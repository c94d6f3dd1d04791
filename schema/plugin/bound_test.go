package plugin_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/tempmodule"
)

func TestGuardsTellWhatFieldsAreBoundToExactly(t *testing.T) {
	tempmodule.New(t, os.DirFS("testdata"))
	directory, err := os.Getwd()
	require.NoError(t, err)
	t.Chdir("bound")
	require.NoError(t, generate(t))

	assert.Equal(t, []string{
		`"Customer.name": (*string)(nil)`,
		`"Leaf.id": (*string)(nil)`,
		`"Order.quote": (*int)(nil)`,
		`"Order.label": (*string)(nil)`,
		`"Order.strict": (*int)(nil)`,
		`"Order.method_result": (*[]*model.Line)(nil)`,
		`"Order.maybe": (*string)(nil)`,
		`"OrderList.items": (*[]*model.Order)(nil)`,
		`"OrderList.total": (*int)(nil)`,
		`"Page.total": (*int)(nil)`,
		`"Page.next": (*string)(nil)`,
		`"Props.size": (*int)(nil)`,
	}, registered(t, "graph", "BoundMethods"))
	assert.Equal(t, []string{`"Order.batched"`}, registered(t, "graph", "BatchResolvers"))

	// With guards and without, a server knows what passes a policy.
	t.Chdir(directory)
	passes := []string{
		"Customer.name", "Leaf.id", "Order.batched", "Order.label", "Order.maybe", "Order.method_result", "Order.quote",
		"Order.status", "Order.strict", "OrderList.items", "OrderList.total", "Page.next", "Page.total", "Props.size",
	}
	data := []string{
		"../schema.graphqls:26: Line.text", `WithField("Order.id")`, "../schema.graphqls:35 (type Loose)", "../schema.graphqls:43 (type Shop)",
	}
	told := strings.Split(tempmodule.Go(t, "run", "./bound/boot"), "\n")
	assert.Equal(t, slices.Concat(passes, []string{"|"}, data, []string{"|"}, passes, []string{"|"}, data, []string{"|", ""}), told)
}
