package schema

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// Ancestor is what becomes null in place of a non-null field that failed: the nearest value above
// it that may.
type Ancestor struct {
	// Coordinate is the field that it belongs to, such as "Query.orders". "": all of the
	// response's data.
	Coordinate string

	// Item is true if it is an item of that field's list, and the list stays.
	Item bool
}

// String is such as "Query.order", "an item of Query.orders" or "the whole response".
func (a Ancestor) String() string {
	switch {
	case a.Coordinate == "":
		return "the whole response"
	case a.Item:
		return "an item of " + a.Coordinate
	default:
		return a.Coordinate
	}
}

// Ancestry tells which fields lead to the objects of a schema; make it with [NewAncestry].
type Ancestry struct {
	schema  *ast.Schema
	parents map[string][]Field
}

// NewAncestry returns the ancestry of the objects of s as it is now.
func NewAncestry(s *ast.Schema) *Ancestry {
	a := &Ancestry{s, map[string][]Field{}}
	for _, definition := range s.Types {
		if definition.Kind != ast.Object || isIntrospection(definition.Name) {
			continue
		}
		for _, field := range definition.Fields {
			parent := Field{Object: definition.Name, Name: field.Name, Definition: field}
			name := field.Type.Name()
			objects := []string{name}
			for _, possible := range s.PossibleTypes[name] {
				objects = append(objects, possible.Name)
			}
			slices.Sort(objects)
			for _, object := range slices.Compact(objects) {
				a.parents[object] = append(a.parents[object], parent)
			}
		}
	}
	for _, parents := range a.parents {
		slices.SortFunc(parents, byCoordinate)
	}
	return a
}

// Parents returns the fields whose values may be of the object type, or lists of such: also those
// of an interface or union that it belongs to. They are sorted by coordinate; of each, only
// Object, Name and Definition are set.
func (a *Ancestry) Parents(object string) []Field { return a.parents[object] }

// Nullable returns what a failure of the field may take along, the whole response first: one for
// each way from a root to the field's object, and none twice. It is empty for a nullable field,
// which becomes null itself, and for one of an object that no field returns.
func (a *Ancestry) Nullable(f Field) []Ancestor {
	if !f.Definition.Type.NonNull {
		return nil
	}
	found, seen := map[Ancestor]bool{}, map[string]bool{}
	var climb func(object string)
	climb = func(object string) {
		if seen[object] {
			return
		}
		seen[object] = true
		if a.isRoot(object) {
			found[Ancestor{}] = true
		}
		for _, parent := range a.parents[object] {
			if nullable, item := absorbs(parent.Definition.Type, false); nullable {
				found[Ancestor{parent.Coordinate(), item}] = true
			} else {
				climb(parent.Object)
			}
		}
	}
	climb(f.Object)
	return slices.SortedFunc(maps.Keys(found), func(a, b Ancestor) int {
		return cmp.Compare(a.Coordinate, b.Coordinate)
	})
}

func (a *Ancestry) isRoot(object string) bool {
	definition := a.schema.Types[object]
	return definition == a.schema.Query || definition == a.schema.Mutation || definition == a.schema.Subscription
}

// absorbs reports whether something in a value of the type can be null, from the inside out, and
// whether that is the item of a list.
func absorbs(t *ast.Type, isItem bool) (nullable, item bool) {
	if t.Elem != nil {
		if nullable, item := absorbs(t.Elem, true); nullable {
			return true, item
		}
	}
	return !t.NonNull, isItem
}
