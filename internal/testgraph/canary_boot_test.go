package testgraph

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

type invalidExtension struct{ err error }

func (invalidExtension) ExtensionName() string                     { return "Invalid" }
func (e invalidExtension) Validate(graphql.ExecutableSchema) error { return e.err }
func (invalidExtension) InterceptField(ctx context.Context, next graphql.Resolver) (any, error) {
	return next(ctx)
}

func TestFact9UsePanicsWithTheErrorOfValidate(t *testing.T) {
	err := errors.New("boot error")
	require.PanicsWithError(t, err.Error(), func() { NewServer(&Stub{}).Use(invalidExtension{err}) },
		"fact 9: Use no longer panics with the error of Validate")
}

// executeByHand executes a field that every schema has, with no executor and
// a resolver middleware that panics: what happens tells whether the schema was
// generated with omit_panic_handler.
func executeByHand(t *testing.T, schema graphql.ExecutableSchema) (recovered, panicked any) {
	t.Helper()
	const query = `{ __schema { description } }`
	document, errs := gqlparser.LoadQueryWithRules(schema.Schema(), query, nil)
	require.Empty(t, errs)
	recoverFunc := func(_ context.Context, r any) error {
		recovered = r
		return fmt.Errorf("panic: %v", r)
	}
	ctx := graphql.WithOperationContext(t.Context(), &graphql.OperationContext{
		RawQuery:    query,
		Doc:         document,
		Operation:   document.Operations[0],
		RecoverFunc: recoverFunc,
		ResolverMiddleware: func(context.Context, graphql.Resolver) (any, error) {
			panic("in the resolver middleware")
		},
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
			return next(ctx)
		},
	})
	ctx = graphql.WithResponseContext(ctx, graphql.DefaultErrorPresenter, recoverFunc)
	defer func() { panicked = recover() }()
	schema.Exec(ctx)(ctx)
	return recovered, panicked
}

func TestOmitPanicHandlerShowsWhenAMiddlewarePanics(t *testing.T) {
	recovered, panicked := executeByHand(t, NewSchema(&Stub{}))
	require.Equal(t, "in the resolver middleware", recovered,
		"section 7: a panic in middleware is no longer reported through OperationContext.RecoverFunc")
	require.Nil(t, panicked)

	recovered, panicked = executeByHand(t, NewNoPanicSchema(&Stub{}))
	require.Nil(t, recovered)
	require.Equal(t, "in the resolver middleware", panicked,
		"section 7: with omit_panic_handler a panic in middleware no longer propagates out of Exec")
}

// recordingContext learns the keys that gqlgen looks values up by.
type recordingContext struct {
	context.Context
	keys []any
}

func (c *recordingContext) Value(key any) any {
	c.keys = append(c.keys, key)
	return c.Context.Value(key)
}

func TestContextKeysOfGqlgenCanBeLearnt(t *testing.T) {
	field := &graphql.FieldContext{Object: "Query"}
	inner := graphql.WithFieldContext(
		graphql.WithResponseContext(t.Context(), graphql.DefaultErrorPresenter, graphql.DefaultRecover), field)
	recording := &recordingContext{Context: inner}

	graphql.GetErrors(recording)
	require.Len(t, recording.keys, 1, "section 8: GetErrors no longer looks up just the response context")
	fresh := graphql.WithFreshResponseContext(inner)
	responseKey := recording.keys[0]
	require.NotNil(t, inner.Value(responseKey))
	require.NotSame(t, inner.Value(responseKey), fresh.Value(responseKey))
	graphql.AddErrorf(fresh, "added")
	require.Empty(t, graphql.GetErrors(inner))
	require.Len(t, graphql.GetErrors(context.WithValue(inner, responseKey, fresh.Value(responseKey))), 1,
		"section 8: a response context can no longer be put under the key learnt")

	recording.keys = nil
	require.Same(t, field, graphql.GetFieldContext(recording))
	require.Len(t, recording.keys, 1, "section 8: GetFieldContext no longer looks up just the field context")
	require.Same(t, field, inner.Value(recording.keys[0]))
}

func TestInnermostNextIsAFrameOfResolveFieldBetweenMiddlewareAndResolver(t *testing.T) {
	var resolverStack []string
	stub := &Stub{}
	stub.QueryResolver.Text = func(context.Context) (*string, error) {
		resolverStack = stack()
		return nil, nil
	}
	server := NewServer(stub)
	server.AroundFields(middlewareOfThisTest)
	require.Empty(t, Post(t.Context(), t, server, `{ text }`).Errors)

	middleware := slices.IndexFunc(resolverStack, func(function string) bool {
		return strings.HasSuffix(function, ".middlewareOfThisTest")
	})
	require.Positive(t, middleware)
	require.True(t, slices.ContainsFunc(resolverStack[:middleware], func(function string) bool {
		return strings.HasPrefix(function, "github.com/99designs/gqlgen/graphql.resolveField[...].func")
	}), "the innermost next no longer appears between middleware and resolver:\n%s", strings.Join(resolverStack, "\n"))
}

func middlewareOfThisTest(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

func stack() []string {
	counters := make([]uintptr, 64)
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters)])
	var functions []string
	for {
		frame, more := frames.Next()
		functions = append(functions, frame.Function)
		if !more {
			return functions
		}
	}
}

func TestExecutableSchemaExposesItsResolversToReflection(t *testing.T) {
	stub := &Stub{}
	for name, schema := range map[string]graphql.ExecutableSchema{
		"default": NewSchema(stub), "nopanic": NewNoPanicSchema(stub),
	} {
		t.Run(name, func(t *testing.T) {
			resolvers := reflect.ValueOf(schema).Elem().FieldByName("Resolvers")
			require.True(t, resolvers.IsValid() && resolvers.CanInterface(),
				"the executable schema no longer has an exported field Resolvers")
			require.Equal(t, reflect.Interface, resolvers.Kind(), "Resolvers is no longer of an interface type")
			for coordinate, want := range map[string]reflect.Type{
				"Query.Items":        reflect.TypeFor[[]*model.Item](),
				"Query.StrictAny":    reflect.TypeFor[any](),
				"Query.Node":         reflect.TypeFor[model.Node](),
				"Item.Stock":         reflect.TypeFor[[]*int](),
				"Subscription.Ticks": reflect.TypeFor[<-chan *model.Tick](),
			} {
				object, field, _ := strings.Cut(coordinate, ".")
				getter, ok := resolvers.Type().MethodByName(object)
				require.True(t, ok, "ResolverRoot no longer has a method per object: %s", object)
				resolver, ok := getter.Type.Out(0).MethodByName(field)
				require.True(t, ok, "a resolver interface no longer has a method per field: %s", coordinate)
				require.Equal(t, want, resolver.Type.Out(0), "the Go type of %s has changed", coordinate)
			}
		})
	}
}
