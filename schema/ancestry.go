package schema

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// Ancestry tells which fields lead to the objects of a schema; make it with [NewAncestry].
type Ancestry struct {
	schema    *ast.Schema
	parents   map[string][]Field    // by the type that they are declared with, sorted
	abstracts map[string][]string   // the interfaces and unions of an object
	nullable  map[string][]Ancestor // by type, what a non-null field of it takes along
}

// NewAncestry returns the ancestry of the objects of s as it is now.
func NewAncestry(s *ast.Schema) *Ancestry {
	a := &Ancestry{schema: s, parents: map[string][]Field{}, abstracts: map[string][]string{}}
	for name, definition := range s.Types {
		switch {
		case isIntrospection(name):
		case definition.IsAbstractType():
			for _, possible := range s.PossibleTypes[name] {
				if possible.Kind == ast.Object {
					a.abstracts[possible.Name] = append(a.abstracts[possible.Name], name)
				}
			}
		case definition.Kind == ast.Object:
			for _, field := range definition.Fields {
				declared := field.Type.Name()
				a.parents[declared] = append(a.parents[declared], Field{Object: name, Name: field.Name, Definition: field})
			}
		}
	}
	for object, names := range a.abstracts {
		slices.Sort(names)
		a.abstracts[object] = slices.Compact(names)
	}
	for _, parents := range a.parents {
		slices.SortFunc(parents, byCoordinate)
	}
	a.nullable = nullable(a)
	return a
}

// Declared returns the fields whose type is the named one itself, be it an object, interface or
// union, or a list of such. They are sorted by coordinate; of each, only Object, Name and
// Definition are set. The caller must not change them.
func (a *Ancestry) Declared(name string) []Field { return a.parents[name] }

// Abstracts returns the interfaces and unions that the object type belongs to, sorted. The caller
// must not change them.
func (a *Ancestry) Abstracts(object string) []string { return a.abstracts[object] }

// Nullable returns what a failure of the field may take along, the whole response first: one for
// each way from a root to the field's object, and none twice. It is empty for a nullable field,
// which becomes null itself, and for one of an object that no field returns. Fields share the
// result: the caller must not change it.
func (a *Ancestry) Nullable(f Field) []Ancestor {
	if !f.Definition.Type.NonNull {
		return nil
	}
	return a.nullable[f.Object]
}

func (a *Ancestry) isRoot(object string) bool {
	definition := a.schema.Types[object]
	return definition == a.schema.Query || definition == a.schema.Mutation || definition == a.schema.Subscription
}
