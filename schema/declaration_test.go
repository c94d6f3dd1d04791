package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/gqlresilience/gqlresilience/schema"
)

func TestSDLDeclaresTheDirectiveAndDescribesAllOfIt(t *testing.T) {
	document, err := parser.ParseSchema(&ast.Source{Name: "resilience.graphqls", Input: schema.SDL})
	require.NoError(t, err)
	require.Len(t, document.Directives, 1)
	declared := document.Directives[0]

	assert.Equal(t, "resilience", declared.Name)
	assert.NotEmpty(t, declared.Description)
	assert.ElementsMatch(t, []ast.DirectiveLocation{ast.LocationFieldDefinition, ast.LocationObject}, declared.Locations)
	types := map[string]string{}
	for _, argument := range declared.Arguments {
		types[argument.Name] = argument.Type.String()
		assert.NotEmpty(t, argument.Description, argument.Name)
	}
	assert.Equal(t, map[string]string{"preset": "String", "timeout": "String", "idempotent": "Boolean"}, types)
}

func TestWalkNamesHowADeclarationDeparts(t *testing.T) {
	for _, row := range []struct {
		behaviour   string
		declaration string
		want        []string
	}{
		{"none", `directive @resilience(preset: String, timeout: String, idempotent: Boolean) on FIELD_DEFINITION | OBJECT`, nil},
		{"order and descriptions may differ", `"mine" directive @resilience(idempotent: Boolean, "t" timeout: String, preset: String) on OBJECT | FIELD_DEFINITION`, nil},
		{"a missing argument", `directive @resilience(preset: String, timeout: String) on FIELD_DEFINITION | OBJECT`,
			[]string{"argument idempotent: Boolean is missing"}},
		{"an argument too many", `directive @resilience(preset: String, timeout: String, idempotent: Boolean, retries: Int) on FIELD_DEFINITION | OBJECT`,
			[]string{"there is no argument retries"}},
		{"an argument's type", `directive @resilience(preset: String!, timeout: Int, idempotent: [Boolean]) on FIELD_DEFINITION | OBJECT`,
			[]string{
				"argument preset must be of type String, not String!",
				"argument timeout must be of type String, not Int",
				"argument idempotent must be of type Boolean, not [Boolean]",
			}},
		{"a default value, which nobody would read", `directive @resilience(preset: String, timeout: String = "1s", idempotent: Boolean) on FIELD_DEFINITION | OBJECT`,
			[]string{"argument timeout must have no default value"}},
		{"locations", `directive @resilience(preset: String, timeout: String, idempotent: Boolean) on FIELD_DEFINITION | INTERFACE`,
			[]string{"must be declared on FIELD_DEFINITION | OBJECT, not on FIELD_DEFINITION | INTERFACE"}},
		{"repeatable", `directive @resilience(preset: String, timeout: String, idempotent: Boolean) repeatable on FIELD_DEFINITION | OBJECT`,
			[]string{"must not be repeatable"}},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			loaded := loadSources(t, &ast.Source{Name: "mine.graphqls", Input: "type Query { x: Int }\n" + row.declaration})

			_, _, err := schema.Walk(loaded, nil)

			if row.want == nil {
				require.NoError(t, err)
				return
			}
			for i := range row.want {
				row.want[i] = "mine.graphqls:2: directive @resilience: " + row.want[i]
			}
			assert.EqualError(t, err, strings.Join(row.want, "\n"))
		})
	}
}
