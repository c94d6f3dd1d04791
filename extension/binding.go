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
	guessed bool         // gqlgen's config may say otherwise
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

// isData reports whether the field is known never to pass a policy.
func (b binding) isData() bool { return b.source == sourceData && !b.guessed }

// binding finds out what the field is bound to. The resolvers tell of theirs; of the others, the
// code that was generated with guards knows, and without it is guessed.
func (g *generated) binding(f schema.Field) binding {
	if resolver, ok := g.resolver(f); ok {
		return binding{source: sourceResolver, returns: resolver.Type.Out(0)}
	}
	if g.code != nil {
		if method, ok := g.code.BoundMethods[f.Coordinate()]; ok {
			return binding{source: sourceMethod, returns: reflect.TypeOf(method).Elem()}
		}
		return binding{source: sourceData}
	}
	model := g.models[f.Object]
	if model == nil {
		return binding{}
	}
	bound := g.bind(model, goName(f))
	bound.guessed = true
	return bound
}

// bind looks for the name among the members of a Go type, as gqlgen does. It settles for not
// knowing where gqlgen's config decides.
func (g *generated) bind(model reflect.Type, name string) binding {
	if model.Kind() == reflect.Map && model.Name() == "" {
		return binding{source: sourceData}
	}
	methods := model
	if model.Kind() != reflect.Interface {
		methods = reflect.PointerTo(model)
	}
	var data reflect.StructField
	var isData, isTagged bool
	if model.Kind() == reflect.Struct {
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
			return binding{source: sourceUnknown, returns: data.Type}
		}
		return binding{source: sourceData, returns: data.Type}
	case isMethod && !hasGetter && !isTagged:
		return binding{source: sourceMethod, returns: method.Type.Out(0)}
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

func isRoot(s *ast.Schema, object *ast.Definition) bool {
	return object == s.Query || object == s.Mutation || object == s.Subscription
}

// isEntityFinder reports whether the field is one of those that gqlgen's federation makes up for
// its entity resolvers, which no query selects.
func isEntityFinder(s *ast.Schema, f schema.Field) bool {
	return f.Object == "Entity" && s.Query != nil && s.Query.Fields.ForName("_entities") != nil
}
