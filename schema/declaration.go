package schema

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/gqlresilience/gqlresilience/directive"
)

// declaration is the directive's declaration in SDL.
var declaration = sync.OnceValue(func() *ast.DirectiveDefinition {
	document, err := parser.ParseSchema(&ast.Source{Name: "resilience.graphqls", Input: SDL})
	if err != nil {
		panic(err) // unreachable: SDL is embedded, and tested
	}
	return document.Directives.ForName(directive.Name)
})

// differences tells, one by one, how a schema's declaration of the directive departs from the
// one in SDL. Descriptions and order may differ.
func differences(declared *ast.DirectiveDefinition) []string {
	want := declaration()
	var found []string
	for _, argument := range want.Arguments {
		got := declared.Arguments.ForName(argument.Name)
		switch {
		case got == nil:
			found = append(found, fmt.Sprintf("argument %s: %s is missing", argument.Name, argument.Type))
		case got.Type.String() != argument.Type.String():
			found = append(found, fmt.Sprintf("argument %s must be of type %s, not %s", argument.Name, argument.Type, got.Type))
		case got.DefaultValue != nil:
			found = append(found, fmt.Sprintf("argument %s must have no default value", argument.Name))
		}
	}
	for _, argument := range declared.Arguments {
		if want.Arguments.ForName(argument.Name) == nil {
			found = append(found, fmt.Sprintf("there is no argument %s", argument.Name))
		}
	}
	if !sameLocations(want.Locations, declared.Locations) {
		found = append(found, fmt.Sprintf("must be declared on %s, not on %s", locations(want), locations(declared)))
	}
	if declared.IsRepeatable {
		found = append(found, "must not be repeatable")
	}
	return found
}

func sameLocations(a, b []ast.DirectiveLocation) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

func locations(declared *ast.DirectiveDefinition) string {
	names := make([]string, len(declared.Locations))
	for i, location := range declared.Locations {
		names[i] = string(location)
	}
	return strings.Join(names, " | ")
}
