package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

func TestAFailureTakesTheNearestNullableAncestorsAlong(t *testing.T) {
	s, err := gqlparser.LoadSchema(&ast.Source{Name: "shop.graphqls", Input: `
type Query {
  top: String!
  free: String
  order: Order
  strict: Order!
  orders: [Order!]
  sparse: [Order]!
  nested: [[Order!]!]!
  matrix: [[Order!]]!
  node: Node
  found: [Found!]
  self: Query
}
type Mutation { pay: Receipt! }
type Subscription { paid: Receipt }
interface Node { id: ID! }
union Found = Line | Receipt
type Order implements Node { id: ID! lines: [Line!]! again: Order! }
type Line { price: Float! }
type Receipt { total: Float! }
type Lost { total: Float! }
`})
	require.NoError(t, err)
	for field, want := range map[string][]string{
		"Query.free": nil,
		"Query.top":  {"the whole response", "Query.self"},
		"Order.id": {"the whole response", "an item of Query.matrix", "Query.node", "Query.order", "Query.orders", "Query.self",
			"an item of Query.sparse"},
		"Line.price": {"the whole response", "Query.found", "an item of Query.matrix", "Query.node", "Query.order", "Query.orders", "Query.self",
			"an item of Query.sparse"},
		"Receipt.total": {"the whole response", "Query.found", "Subscription.paid"},
		"Lost.total":    nil,
	} {
		t.Run(field, func(t *testing.T) {
			object, name, _ := strings.Cut(field, ".")
			var got []string
			for _, ancestor := range schema.NewAncestry(s).Nullable(schema.Field{Object: object, Name: name, Definition: s.Types[object].Fields.ForName(name)}) {
				got = append(got, ancestor.String())
			}
			require.Equal(t, want, got)
		})
	}
}
