package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

func TestTypesThatLeadToEachOtherTakeTheSameAlong(t *testing.T) {
	s, err := gqlparser.LoadSchema(&ast.Source{Input: `
type Query { a: A b: [B] node: Node! }
interface Node { id: ID! }
type A { b: B! value: Int! }
type B { c: C! value: Int! }
type C implements Node { id: ID! a: A! below: D! value: Int! }
type D { value: Int! below: [E]! }
type E { value: Int! }`})
	require.NoError(t, err)
	ancestry := schema.NewAncestry(s)
	for object, want := range map[string]string{
		"A": "[the whole response Query.a an item of Query.b]", "B": "[the whole response Query.a an item of Query.b]",
		"C": "[the whole response Query.a an item of Query.b]", "D": "[the whole response Query.a an item of Query.b]",
		"E": "[an item of D.below]",
	} {
		f := schema.Field{Object: object, Name: "value", Definition: s.Types[object].Fields.ForName("value")}
		require.Equal(t, want, fmt.Sprint(ancestry.Nullable(f)), object)
	}
}
