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
