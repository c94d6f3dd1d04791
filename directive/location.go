package directive

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// Location writes a position as file and line, "schema.graphqls:12". A file without a name, or
// no file, is written "schema", and the line is left out if the position is nil or has none.
func Location(position *ast.Position) string {
	if position == nil {
		return "schema"
	}
	file := "schema"
	if position.Src != nil && position.Src.Name != "" {
		file = position.Src.Name
	}
	if position.Line < 1 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, position.Line)
}
