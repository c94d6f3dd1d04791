package extension

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

// What the extension finds out about generated code, which does not tell.

// omitsPanicHandler reports whether the schema was generated with omit_panic_handler: it
// executes an introspection field whose middleware panics, and sees where the panic goes.
func omitsPanicHandler(es graphql.ExecutableSchema) (omits bool) {
	type probe struct{}
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
		ResolverMiddleware:     func(context.Context, graphql.Resolver) (any, error) { panic(probe{}) },
	}
	ctx := graphql.WithResponseContext(graphql.WithOperationContext(context.Background(), oc),
		graphql.DefaultErrorPresenter, oc.RecoverFunc)
	defer func() { omits = recover() == any(probe{}) }()
	es.Exec(ctx)(ctx)
	return false
}

// noStream returns the stream that does not exist, of the type that gqlgen expects of the
// subscription's field, or nil if the field is none.
func noStream(es graphql.ExecutableSchema, f schema.Field) any {
	if f.Object != rootName(es.Schema().Subscription) {
		return nil
	}
	if result := fieldResult(es, f); result != nil && result.Kind() == reflect.Chan && isEvent(result.Elem()) {
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
func takesNull(es graphql.ExecutableSchema, f schema.Field) bool {
	null := reflect.TypeOf(graphql.Null)
	if result := fieldResult(es, f); result != nil {
		return result.Kind() == reflect.Interface && null.Implements(result)
	}
	// A bound method. Only custom scalars and abstract types are ever interfaces in Go.
	if f.Definition.Type.Elem != nil {
		return false
	}
	switch named := es.Schema().Types[f.Definition.Type.NamedType]; {
	case named == nil:
		return true
	case named.Kind == ast.Scalar:
		return !named.BuiltIn
	default:
		return named.IsAbstractType()
	}
}

// fieldResult returns what the middleware gets of the field's resolver: of a batch resolver one
// item's value.
func fieldResult(es graphql.ExecutableSchema, f schema.Field) reflect.Type {
	result := resolverResult(es, f)
	if result != nil && isBatch(f) && result.Kind() == reflect.Slice {
		return result.Elem()
	}
	return result
}

// resolverResult returns what the field's resolver returns, or nil if it has none. Generated
// schemas hold their resolvers in an exported field, whose interface types tell it.
func resolverResult(es graphql.ExecutableSchema, f schema.Field) reflect.Type {
	resolvers := executableField(es, "Resolvers")
	if !resolvers.IsValid() || resolvers.Kind() != reflect.Interface {
		return nil
	}
	object, ok := methodNamed(resolvers.Type(), f.Object)
	if !ok || object.Type.NumOut() != 1 || object.Type.Out(0).Kind() != reflect.Interface {
		return nil
	}
	resolver, ok := methodNamed(object.Type.Out(0), f.Name)
	if !ok || resolver.Type.NumOut() == 0 {
		return nil
	}
	return resolver.Type.Out(0)
}

// isBatch reports whether the field's resolver answers for all items of a list at once.
func isBatch(f schema.Field) bool {
	goField := f.Definition.Directives.ForName("goField")
	return goField != nil && isTrue(goField.Arguments.ForName("batch"))
}

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

// methodNamed finds the method that gqlgen made of a GraphQL name, whatever it did to its case
// and underscores.
func methodNamed(t reflect.Type, name string) (reflect.Method, bool) {
	plain := strings.ReplaceAll(name, "_", "")
	for method := range t.Methods() {
		if strings.EqualFold(strings.ReplaceAll(method.Name, "_", ""), plain) {
			return method, true
		}
	}
	return reflect.Method{}, false
}

func isTrue(argument *ast.Argument) bool {
	return argument != nil && argument.Value != nil && argument.Value.Raw == "true"
}
