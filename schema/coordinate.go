package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
	"github.com/gqlresilience/gqlresilience/internal/nearest"
)

// coordinateProblem tells why coordinate is no field that can have a policy; "" if it is one.
func coordinateProblem(s *ast.Schema, coordinate string) string {
	object, name, dotted := strings.Cut(coordinate, ".")
	if !dotted || !isName(object) || !isName(name) {
		return fmt.Sprintf("%q is not a field: must be a type and a field, such as \"Query.orders\"", coordinate)
	}
	if isIntrospection(object) || isIntrospection(name) {
		return fmt.Sprintf("%s belongs to introspection, which has no policies", coordinate)
	}
	definition := s.Types[object]
	if definition == nil {
		return fmt.Sprintf("there is no type %s", object) + suggest(nearestInOtherType(s, object, name))
	}
	if definition.Kind != ast.Object && definition.Kind != ast.Interface {
		return fmt.Sprintf("%s (%s) is %s: only fields of object types have policies",
			object, directive.Location(definition.Position), kinds[definition.Kind])
	}
	if definition.Fields.ForName(name) == nil {
		return fmt.Sprintf("type %s has no field %s", object, name) + suggest(nearestField(definition, name))
	}
	if definition.Kind == ast.Interface {
		return fmt.Sprintf("%s (%s) is an interface: %s",
			object, directive.Location(definition.Position), objectFieldsInstead(s, definition, name))
	}
	if isFederation(s, definition, name) {
		return coordinate + " belongs to federation, and never passes a policy"
	}
	return ""
}

var kinds = map[ast.DefinitionKind]string{
	ast.Scalar:      "a scalar",
	ast.Union:       "a union",
	ast.Enum:        "an enum",
	ast.InputObject: "an input type",
}

// isName reports whether text has the form of a GraphQL name.
func isName(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return text != ""
}

func isIntrospection(name string) bool { return strings.HasPrefix(name, "__") }

// isFederation reports whether the field is one that gqlgen's federation plugin adds to the
// query root and answers itself.
func isFederation(s *ast.Schema, object *ast.Definition, name string) bool {
	return object == s.Query && (name == "_entities" || name == "_service")
}

// objectFieldsInstead tells which fields to annotate in place of an interface's.
func objectFieldsInstead(s *ast.Schema, iface *ast.Definition, name string) string {
	var fields []string
	for _, implementation := range s.PossibleTypes[iface.Name] {
		if implementation.Kind == ast.Object {
			fields = append(fields, implementation.Name+"."+name)
		}
	}
	if len(fields) == 0 {
		return "no object type implements it"
	}
	slices.Sort(fields)
	return "policies belong to object types, so put it on " + strings.Join(slices.Compact(fields), ", ")
}

func suggest(coordinate string) string {
	if coordinate == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", coordinate)
}

// nearestInOtherType looks for the field in the type that object was meant to be, and returns
// that type alone if it has nothing like the field.
func nearestInOtherType(s *ast.Schema, object, name string) string {
	var types []string
	for _, definition := range s.Types {
		if definition.Kind == ast.Object && !isIntrospection(definition.Name) {
			types = append(types, definition.Name)
		}
	}
	meant := s.Types[nearest.Name(object, types)]
	for usual, root := range map[string]*ast.Definition{"Query": s.Query, "Mutation": s.Mutation, "Subscription": s.Subscription} {
		if object == usual && root != nil {
			meant = root
		}
	}
	if meant == nil {
		return ""
	}
	if meant.Fields.ForName(name) != nil {
		return meant.Name + "." + name
	}
	if field := nearestField(meant, name); field != "" {
		return field
	}
	return meant.Name
}

func nearestField(object *ast.Definition, name string) string {
	var names []string
	for _, field := range object.Fields {
		if !isIntrospection(field.Name) {
			names = append(names, field.Name)
		}
	}
	if name = nearest.Name(name, names); name == "" {
		return ""
	}
	return object.Name + "." + name
}
