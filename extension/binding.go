package extension

import (
	"go/token"
	"reflect"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

// binding is what generated code gets a field's value from.
type binding struct {
	source  source
	returns reflect.Type // nil: not known
}

type source int

const (
	sourceUnknown source = iota // nothing tells
	sourceResolver
	sourceMethod // of the object's Go type
	sourceData   // a field of a struct, or an entry of a map: it never passes a policy
)

// callable reports whether the field passes its policy for all that is known.
func (b binding) callable() bool { return b.source == sourceResolver || b.source == sourceMethod }

// binding finds out what the field is bound to.
func (g *generated) binding(f schema.Field) binding {
	if resolver, ok := g.resolver(f); ok {
		return binding{sourceResolver, resolver.Type.Out(0)}
	}
	model := g.models[f.Object]
	if model == nil {
		return binding{}
	}
	return g.bind(model, goName(f))
}

// bind looks for the name among the members of a Go type, as gqlgen does. It settles for not
// knowing where gqlgen's config decides.
func (g *generated) bind(model reflect.Type, name string) binding {
	if model.Kind() == reflect.Map {
		return binding{source: sourceData}
	}
	methods := model
	var data reflect.StructField
	var isData, isTagged bool
	if model.Kind() == reflect.Struct {
		methods = reflect.PointerTo(model)
		data, isData = model.FieldByNameFunc(func(candidate string) bool {
			return token.IsExported(candidate) && folded(candidate) == folded(name)
		})
		isTagged = hasTag(model, name)
	}
	method, isMethod := g.method(methods, name)
	isMethod = isMethod && method.Type.NumOut() > 0
	_, hasGetter := g.method(methods, "Get"+name) // which autobind_getter_haser would prefer
	switch {
	case isData && (len(data.Index) == 1 || !isMethod):
		if hasGetter {
			return binding{sourceUnknown, data.Type}
		}
		return binding{sourceData, data.Type}
	case isMethod && !hasGetter && !isTagged:
		return binding{sourceMethod, method.Type.Out(0)}
	default:
		return binding{}
	}
}

// hasTag reports whether a field of the struct has a tag of that name, which gqlgen's struct_tag
// would prefer to all else.
func hasTag(model reflect.Type, name string) bool {
	for field := range model.Fields() {
		for _, rest := range strings.Split(string(field.Tag), `:`)[1:] {
			quoted, _ := strconv.QuotedPrefix(rest)
			value, _ := strconv.Unquote(quoted)
			value, _, _ = strings.Cut(value, ",")
			if value != "" && folded(value) == folded(name) {
				return true
			}
		}
	}
	return false
}

// goName is the Go name of the field, as far as the schema says one.
func goName(f schema.Field) string {
	if goField := f.Definition.Directives.ForName("goField"); goField != nil {
		if name := goField.Arguments.ForName("name"); name != nil && name.Value != nil && name.Value.Raw != "" {
			return name.Value.Raw
		}
	}
	return f.Name
}

// findModels finds the Go types of objects: those that resolvers take as their parent, and those
// that lie on the way from the results of resolvers down the fields.
func (g *generated) findModels() {
	s := g.es.Schema()
	fields := func(object *ast.Definition, visit func(schema.Field)) {
		for _, definition := range object.Fields {
			visit(schema.Field{Object: object.Name, Name: definition.Name, Definition: definition})
		}
	}
	var found []*ast.Definition
	take := func(object *ast.Definition, model reflect.Type) {
		if object == nil || object.Kind != ast.Object || g.models[object.Name] != nil {
			return
		}
		switch model = element(model); {
		case model.Kind() == reflect.Struct, model.Kind() == reflect.Map,
			model.Kind() == reflect.Interface && model.NumMethod() > 0:
			g.models[object.Name] = model
			found = append(found, object)
		}
	}
	for _, object := range s.Types {
		fields(object, func(f schema.Field) {
			resolver, ok := g.resolver(f)
			// Interface methods have no receiver: the parent comes after the context.
			if ok && !isRoot(s, object) && !isEntityFinder(s, f) && resolver.Type.NumIn() > 1 {
				take(object, resolver.Type.In(1))
			}
		})
	}
	for _, object := range s.Types {
		fields(object, func(f schema.Field) {
			if resolver, ok := g.resolver(f); ok {
				take(s.Types[f.Definition.Type.Name()], resolver.Type.Out(0))
			}
		})
	}
	for len(found) > 0 {
		object := found[0]
		found = found[1:]
		fields(object, func(f schema.Field) {
			if returns := g.binding(f).returns; returns != nil {
				take(s.Types[f.Definition.Type.Name()], returns)
			}
		})
	}
}

// element is what lists, streams and pointers of the type are of.
func element(t reflect.Type) reflect.Type {
	for {
		switch {
		case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice, t.Kind() == reflect.Chan:
			t = t.Elem()
		case isEvent(t):
			value, _ := t.FieldByName("Value")
			t = value.Type
		default:
			return t
		}
	}
}

func isRoot(s *ast.Schema, object *ast.Definition) bool {
	return object == s.Query || object == s.Mutation || object == s.Subscription
}

// isEntityFinder reports whether the field is one of those that gqlgen's federation makes up for
// its entity resolvers, which no query selects.
func isEntityFinder(s *ast.Schema, f schema.Field) bool {
	return f.Object == "Entity" && s.Query != nil && s.Query.Fields.ForName("_entities") != nil
}
