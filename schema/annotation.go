package schema

import (
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
)

// annotation is a directive and what messages call it.
type annotation struct {
	directive.Directive
	origin string
}

// annotation returns the one directive among list that is ours, nil if there is none. A type
// may have several, since those of its extensions are added to its own.
func (w *walk) annotation(list ast.DirectiveList, owner string) *annotation {
	var first *annotation
	for _, found := range list.ForNames(directive.Name) {
		parsed, err := directive.Parse(found)
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, err := range joined.Unwrap() {
				w.report(at(found.Position, "%s: %w", owner, err))
			}
		}
		if first != nil {
			w.report(at(found.Position, "%s: @%s is given twice, here and at %s; it may stand once, for the whole of it",
				owner, directive.Name, first.origin))
			continue
		}
		first = &annotation{parsed, directive.Location(found.Position)}
	}
	return first
}
