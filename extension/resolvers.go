package extension

import (
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/schema"
)

// generated is what reflection finds out about a schema's generated code and its resolvers.
type generated struct {
	es        graphql.ExecutableSchema
	resolvers reflect.Type    // of the ResolverRoot; nil: it is hidden
	guarded   map[string]bool // the coordinates of fields that have guards
	hasGuards bool
	code      *GeneratedCode  // what the guards tell, given to the server or not; nil: none were generated
	batches   map[string]bool // of code

	models  map[string]reflect.Type // without code, the Go types of objects by name, as far as they can be guessed
	methods map[reflect.Type]map[string]reflect.Method
}

// newGenerated looks at the resolvers that the schema holds or, if it hides them, at root, which
// may be nil.
func newGenerated(es graphql.ExecutableSchema, root any) *generated {
	g := &generated{
		es: es, guarded: map[string]bool{}, batches: map[string]bool{},
		models: map[string]reflect.Type{}, methods: map[reflect.Type]map[string]reflect.Method{},
	}
	if held := executableField(es, "Resolvers"); held.IsValid() && held.Kind() == reflect.Interface {
		g.resolvers = held.Type()
		root = nil
		if held.CanInterface() {
			root = held.Interface()
		}
	} else {
		g.resolvers = reflect.TypeOf(root)
	}
	if guards, ok := root.(Guarded); ok {
		g.hasGuards = true
		for _, coordinate := range guards.GuardedFields() {
			g.guarded[coordinate] = true
		}
	}
	if g.code = codeOf(g.resolvers); g.code == nil {
		g.findModels()
	} else {
		for _, coordinate := range g.code.BatchResolvers {
			g.batches[coordinate] = true
		}
	}
	return g
}

// lacksGuards reports whether guards were generated for the resolvers, which the server was not
// given.
func (g *generated) lacksGuards() bool {
	return g.code != nil && g.code.HasGuards && !g.hasGuards
}

// isResolverRoot reports whether a method of t returns the resolvers of an object.
func isResolverRoot(t reflect.Type) bool {
	if t == nil {
		return false
	}
	for method := range t.Methods() {
		if returnsResolvers(method) {
			return true
		}
	}
	return false
}

func returnsResolvers(method reflect.Method) bool {
	return method.Type.NumOut() == 1 && method.Type.Out(0).Kind() == reflect.Interface &&
		strings.HasSuffix(method.Type.Out(0).Name(), "Resolver")
}

// resolver returns the method that resolves the field.
func (g *generated) resolver(f schema.Field) (reflect.Method, bool) {
	if g.resolvers == nil {
		return reflect.Method{}, false
	}
	object, ok := g.method(g.resolvers, f.Object)
	if !ok || !returnsResolvers(object) {
		return reflect.Method{}, false
	}
	resolver, ok := g.method(object.Type.Out(0), f.Name)
	return resolver, ok && resolver.Type.NumOut() > 0
}

// method finds the method that gqlgen made of a GraphQL name, whatever it did to its case and
// underscores.
func (g *generated) method(t reflect.Type, name string) (reflect.Method, bool) {
	known := g.methods[t]
	if known == nil {
		known = map[string]reflect.Method{}
		for method := range t.Methods() {
			known[folded(method.Name)] = method
		}
		g.methods[t] = known
	}
	method, ok := known[folded(name)]
	return method, ok
}

// folded is what a GraphQL name and the Go name that gqlgen makes of it have in common.
func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
