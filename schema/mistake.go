package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
)

// mistake is one error or warning with its place in the schema.
type mistake struct {
	position *ast.Position // nil: it is in Go code
	err      error
}

// at makes a mistake that stands in the schema.
func at(position *ast.Position, format string, arguments ...any) mistake {
	return mistake{position, fmt.Errorf("%s: %w", directive.Location(position), fmt.Errorf(format, arguments...))}
}

// byPosition sorts by file, line and column, those in Go code last in the order they have.
func byPosition(a, b mistake) int {
	if a.position == nil || b.position == nil {
		return cmp.Compare(inCode(a), inCode(b))
	}
	return cmp.Or(
		cmp.Compare(file(a.position), file(b.position)),
		cmp.Compare(a.position.Line, b.position.Line),
		cmp.Compare(a.position.Column, b.position.Column),
	)
}

func inCode(m mistake) int {
	if m.position == nil {
		return 1
	}
	return 0
}

func file(position *ast.Position) string {
	if position.Src == nil {
		return ""
	}
	return position.Src.Name
}

// join makes one error of all, sorted by position. None: nil.
func join(mistakes []mistake) error {
	slices.SortStableFunc(mistakes, byPosition)
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = m.err
	}
	return errors.Join(errs...)
}
