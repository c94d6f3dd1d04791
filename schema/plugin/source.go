package plugin

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/gqlresilience/gqlresilience/directive"
	"github.com/gqlresilience/gqlresilience/schema"
)

// InjectSourcesEarly returns the declaration of the directive, or nothing if the schema
// declares it itself.
func (p *Plugin) InjectSourcesEarly() ([]*ast.Source, error) {
	for _, source := range p.config.Sources {
		// What does not parse is reported by gqlgen, which loads it next.
		if document, err := parser.ParseSchema(source); err == nil && document.Directives.ForName(directive.Name) != nil {
			return nil, nil
		}
	}
	name, err := p.sourceName()
	if err != nil {
		return nil, err
	}
	// Not BuiltIn: the schema that federation and formatters print would lack the declaration.
	return []*ast.Source{{Name: name, Input: schema.SDL}}, nil
}

// sourceName is a path outside the folder of the generated server. Sources inside are embedded
// by their file, and this one has none.
func (p *Plugin) sourceName() (string, error) {
	if err := p.config.Exec.Check(); err != nil { // fills in the layout, else Dir panics
		return "", fmt.Errorf("config.exec: %w", err)
	}
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	outside := filepath.Join(filepath.Dir(p.config.Exec.Dir()), "resilience.graphqls")
	name, err := filepath.Rel(directory, outside)
	return filepath.ToSlash(name), err
}
