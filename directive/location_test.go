package directive_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
)

func TestLocationLeavesOutWhatIsNotKnown(t *testing.T) {
	for _, row := range []struct {
		behaviour string
		position  *ast.Position
		want      string
	}{
		{"file and line", &ast.Position{Line: 12, Src: &ast.Source{Name: "graph/schema.graphqls"}}, "graph/schema.graphqls:12"},
		{"no line", &ast.Position{Src: &ast.Source{Name: "schema.graphqls"}}, "schema.graphqls"},
		{"a negative line", &ast.Position{Line: -1, Src: &ast.Source{Name: "schema.graphqls"}}, "schema.graphqls"},
		{"a file without a name", &ast.Position{Line: 12, Src: &ast.Source{}}, "schema:12"},
		{"no file", &ast.Position{Line: 12}, "schema:12"},
		{"no position", nil, "schema"},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			assert.Equal(t, row.want, directive.Location(row.position))
		})
	}
}
