package extension

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
	"github.com/gqlresilience/gqlresilience/schema"
)

// What reflection and a trial run find out about generated code.

// omitsPanicHandler reports whether the schema was generated with omit_panic_handler: it
// executes an introspection field whose middleware panics, and sees where the panic goes.
func omitsPanicHandler(es graphql.ExecutableSchema) (omits bool) {
	type trial struct{}
	doc, err := gqlparser.LoadQueryWithRules(es.Schema(), "{ __schema { description } }", nil)
	if err != nil {
		return false
	}
	oc := &graphql.OperationContext{
		Doc:       doc,
		Operation: doc.Operations[0],
		RecoverFunc: func(context.Context, any) error {
			return nil // the panic got here, so there is a handler
		},
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) },
		ResolverMiddleware:     func(context.Context, graphql.Resolver) (any, error) { panic(trial{}) },
	}
	ctx := graphql.WithResponseContext(graphql.WithOperationContext(context.Background(), oc),
		graphql.DefaultErrorPresenter, oc.RecoverFunc)
	defer func() { omits = recover() == any(trial{}) }()
	es.Exec(ctx)(ctx)
	return false
}

// noStream returns the stream that does not exist, of the type that gqlgen expects of the
// subscription's field, or nil if the field is none.
func (g *generated) noStream(f schema.Field) any {
	if f.Object != rootName(g.es.Schema().Subscription) {
		return nil
	}
	if result := g.fieldResult(f); result != nil && result.Kind() == reflect.Chan && isEvent(result.Elem()) {
		return (func(context.Context) (context.Context, graphql.Marshaler))(nil)
	}
	return (func(context.Context) graphql.Marshaler)(nil)
}

// isEvent reports whether t is a graphql.Event, of whatever.
func isEvent(t reflect.Type) bool {
	event := reflect.TypeFor[graphql.Event[any]]()
	return t.PkgPath() == event.PkgPath() && strings.HasPrefix(t.Name(), "Event[")
}

// takesNull reports whether the Go type of the field can hold graphql.Null.
func (g *generated) takesNull(f schema.Field) bool {
	null := reflect.TypeOf(graphql.Null)
	if result := g.fieldResult(f); result != nil {
		return result.Kind() == reflect.Interface && null.Implements(result)
	}
	// Only custom scalars and abstract types are ever interfaces in Go.
	if f.Definition.Type.Elem != nil {
		return false
	}
	switch named := g.es.Schema().Types[f.Definition.Type.NamedType]; {
	case named == nil:
		return true
	case named.Kind == ast.Scalar:
		return !named.BuiltIn
	default:
		return named.IsAbstractType()
	}
}

// fieldResult returns what the middleware gets of the field's resolver or bound method: of a
// batch resolver one item's value. nil: that is not known.
func (g *generated) fieldResult(f schema.Field) reflect.Type {
	bound := g.binding(f)
	switch {
	case !bound.callable():
		return nil
	case bound.source == sourceResolver && g.isBatch(f):
		return bound.returns.Elem()
	default:
		return bound.returns
	}
}

// isBatch reports whether the field's resolver answers for all items of a list at once. Generated
// guards know. Without them, a resolver that takes and returns unnamed slices is one, for gqlgen
// writes those types itself; where the resolvers are hidden, the schema's @goField tells.
func (g *generated) isBatch(f schema.Field) bool {
	s := g.es.Schema()
	if isRoot(s, s.Types[f.Object]) {
		return false
	}
	resolver, ok := g.resolver(f)
	switch {
	case ok && g.code != nil:
		return g.batches[f.Coordinate()]
	case ok:
		return resolver.Type.NumIn() > 1 && isList(resolver.Type.In(1)) && isList(resolver.Type.Out(0)) && !isEntityFinder(s, f)
	default:
		goField := f.Definition.Directives.ForName("goField")
		return goField != nil && isTrue(goField.Arguments.ForName("batch"))
	}
}

func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice && t.Name() == "" }

// missingDirective reports code that calls @resilience at run time where nobody implements it:
// every annotated field would fail.
func missingDirective(es graphql.ExecutableSchema) error {
	directives := executableField(es, "Directives")
	if !directives.IsValid() || directives.Kind() != reflect.Struct {
		return nil
	}
	if implementation := directives.FieldByName("Resilience"); !implementation.IsValid() || implementation.Kind() != reflect.Func || !implementation.IsNil() {
		return nil
	}
	return errors.New("the code was generated to call @resilience at run time: set directives: resilience: skip_runtime: true in gqlgen.yml and generate again, or set Directives.Resilience in the schema's Config to this package's Directive")
}

// executableField returns the field of that name of the struct that gqlgen generates, or the
// zero Value.
func executableField(es graphql.ExecutableSchema, name string) reflect.Value {
	executable := reflect.Indirect(reflect.ValueOf(es))
	if executable.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return executable.FieldByName(name)
}

// runtimeDirectives returns the names of the directives that generated code calls around the
// field's resolver: those of the field and of the object type that it returns, but not those
// which input types can have too.
func (g *generated) runtimeDirectives(f schema.Field) []string {
	implemented := executableField(g.es, "Directives")
	if !implemented.IsValid() || implemented.Kind() != reflect.Struct {
		return nil
	}
	s := g.es.Schema()
	list := slices.Clone(f.Definition.Directives)
	if returned := s.Types[f.Definition.Type.Name()]; returned != nil {
		for _, used := range returned.Directives {
			if declared := s.Directives[used.Name]; declared != nil && !slices.Contains(declared.Locations, ast.LocationInputObject) {
				list = append(list, used)
			}
		}
	}
	var names []string
	for _, used := range list {
		declared := s.Directives[used.Name]
		if declared == nil || used.Name == directive.Name || slices.Contains(names, used.Name) ||
			!slices.Contains(declared.Locations, ast.LocationFieldDefinition) && !slices.Contains(declared.Locations, ast.LocationObject) {
			continue
		}
		if _, runs := implemented.Type().FieldByNameFunc(func(name string) bool { return folded(name) == folded(used.Name) }); runs {
			names = append(names, used.Name)
		}
	}
	return names
}

func isTrue(argument *ast.Argument) bool {
	return argument != nil && argument.Value != nil && argument.Value.Raw == "true"
}
