package directive_test

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/gqlresilience/gqlresilience/directive"
)

func FuzzParse(f *testing.F) {
	for _, argument := range []string{
		`preset: "carrier"`, `preset: ""`, `preset: carrier`, `preset: 5`, `preset: """carrier"""`,
		`timeout: "1.5s"`, `timeout: "off"`, `timeout: "default"`, `timeout: "5"`, `timeout: null`, `timeout: 1e400`,
		`idempotent: true`, `idempotent: "true"`, `idempotent: [true]`, `idempotent: {a: [{b: 1}]}`,
		`retries: 3`, `preset: "a", preset: "b"`, `preset: $name`, `timeout: "\u0000"`,
	} {
		f.Add(argument)
	}
	f.Fuzz(func(t *testing.T, argument string) {
		document, err := parser.ParseSchema(&ast.Source{
			Name:  "schema.graphqls",
			Input: "type Query { field: String @resilience(" + argument + ") }",
		})
		if err != nil {
			return
		}
		for _, definition := range document.Definitions {
			for _, field := range definition.Fields {
				for _, annotation := range field.Directives {
					parsed, err := directive.Parse(annotation)
					check(t, annotation, parsed, err)
				}
			}
		}
	})
}

// check asserts what holds for every parsed directive, and that nothing which one says is
// lost without an error.
func check(t *testing.T, annotation *ast.Directive, parsed directive.Directive, err error) {
	said := map[string]bool{}
	if parsed.Preset != nil {
		said["preset"] = true
		if *parsed.Preset == "" {
			t.Error("an empty preset")
		}
	}
	if spec := parsed.Timeout; spec != nil {
		said["timeout"] = true
		if spec.Duration != nil && (*spec.Duration <= 0 || spec.Enabled != nil) {
			t.Errorf("an impossible timeout: %v, enabled %v", *spec.Duration, spec.Enabled)
		}
		if spec.Enabled != nil && *spec.Enabled {
			t.Error("no text turns a timeout on by Enabled")
		}
		if spec.Total != nil || spec.Mode != nil || spec.MaxAbandoned != nil {
			t.Errorf("a setting that no text gives: %+v", spec)
		}
	}
	if parsed.Idempotent != nil {
		said["idempotent"] = true
	}
	if parsed.Position != annotation.Position {
		t.Error("the position is lost")
	}
	if err != nil {
		return
	}
	for _, argument := range annotation.Arguments {
		if given := argument.Value.Kind != ast.NullValue; said[argument.Name] != given {
			t.Errorf("argument %s: given %t, parsed %t, no error", argument.Name, given, said[argument.Name])
		}
	}
}
