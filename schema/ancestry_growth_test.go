package schema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

func TestAncestryGrowsNoFasterThanTheSchema(t *testing.T) {
	for name, sdl := range map[string]func(types int) string{
		"a chain that ends where it began": func(types int) string {
			var text strings.Builder
			text.WriteString("type Query { t0: T0! }\n")
			for i := range types {
				fmt.Fprintf(&text, "type T%d { next: T%d! value: Int! }\n", i, (i+1)%types)
			}
			return text.String()
		},
		"a chain with an end": func(types int) string {
			var text strings.Builder
			text.WriteString("type Query { t0: T0! }\n")
			for i := range types {
				fmt.Fprintf(&text, "type T%d { next: T%d! value: Int! }\n", i, i+1)
			}
			fmt.Fprintf(&text, "type T%d { value: Int! }\n", types)
			return text.String()
		},
		"an interface of which all have one": func(types int) string {
			var text strings.Builder
			text.WriteString("type Query { node: Node! }\ninterface Node { id: ID! }\n")
			for i := range types {
				fmt.Fprintf(&text, "type T%d implements Node { id: ID! related: Node! maybe: Node value: Int! }\n", i)
			}
			return text.String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			const few, times = 40, 8
			allocated := func(types int) float64 {
				s, err := gqlparser.LoadSchema(&ast.Source{Input: sdl(types)})
				require.NoError(t, err)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				ancestry := schema.NewAncestry(s)
				for i := range types {
					f := schema.Field{Object: fmt.Sprint("T", i), Name: "value"}
					f.Definition = s.Types[f.Object].Fields.ForName("value")
					require.NotEmpty(t, ancestry.Nullable(f))
				}
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			require.Less(t, allocated(few*times)/allocated(few), 3.0*times)
		})
	}
}

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
	var parents []string
	for _, parent := range ancestry.Parents("C") {
		parents = append(parents, parent.Coordinate())
	}
	require.Equal(t, []string{"B.c", "Query.node"}, parents)
}
