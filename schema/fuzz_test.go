package schema_test

import (
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

func FuzzWalk(f *testing.F) {
	f.Add(`type Query @resilience(preset: "a") { x: Int @resilience(timeout: "1s") _service: Int }`, "Query.x")
	f.Add(`type Query { n: N } interface N { x: Int @resilience } type O implements N { x: Int }`, "N.x")
	f.Add(`schema { query: Q } type Q { x: Int } extend type Q @resilience(idempotent: true) { y: Int }`, "Query.y")
	f.Add(`type Query { x(i: I): Int } input I { x: Int = 1 } union U = Query enum E { A }`, "I.x")
	f.Fuzz(func(t *testing.T, sdl, coordinate string) {
		loaded, err := gqlparser.LoadSchema(
			&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
			&ast.Source{Name: "schema.graphqls", Input: sdl},
		)
		if err != nil {
			return
		}

		fields, _, err := schema.Walk(loaded, map[string]schema.Settings{coordinate: {Idempotent: new(true)}})

		var found []string
		for _, field := range fields {
			found = append(found, field.Coordinate())
			definition := loaded.Types[field.Object]
			if definition == nil || definition.Kind != ast.Object || definition.Fields.ForName(field.Name) != field.Definition {
				t.Errorf("%s is not a field of an object type", field.Coordinate())
			}
			if field.Origin == "" || (field.Preset == "") != (field.PresetOrigin == "") {
				t.Errorf("%s: does not say where it comes from", field.Coordinate())
			}
			for _, layer := range field.Layers {
				if layer.Origin == "" {
					t.Errorf("%s: a layer from nowhere", field.Coordinate())
				}
			}
		}
		if unique := slices.Compact(slices.Clone(found)); len(unique) != len(found) {
			t.Errorf("a field is returned twice: %v", found)
		}
		if err == nil && !slices.Contains(found, coordinate) {
			t.Errorf("the settings of %q are lost without an error", coordinate)
		}
	})
}
