package extension_test

import (
	"context"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/schema"
)

// variantOf returns a server's schema with parts of its SDL, each old followed by new, replaced.
func variantOf(t testing.TB, s *ast.Schema, oldNew ...string) *ast.Schema {
	t.Helper()
	sources := map[*ast.Source]bool{}
	for _, definition := range s.Types {
		if position := definition.Position; position != nil && position.Src != nil && !position.Src.BuiltIn {
			sources[position.Src] = true
		}
	}
	var list []*ast.Source
	for source := range sources {
		list = append(list, &ast.Source{Name: source.Name, Input: strings.NewReplacer(oldNew...).Replace(source.Input)})
	}
	variant, err := gqlparser.LoadSchema(list...)
	require.NoError(t, err)
	return variant
}

// withSchema returns the schema with stub's resolvers as a server takes it.
func withSchema(stub *testgraph.Stub, s *ast.Schema) graphql.ExecutableSchema {
	return hook{}.withSchema(stub, s)
}

// withSchema is that for a mode of hooking in.
func (h hook) withSchema(stub *testgraph.Stub, s *ast.Schema) graphql.ExecutableSchema {
	config := testgraph.Config{Schema: s, Resolvers: stub}
	if h.guarded {
		config.Resolvers = testgraph.Guard(stub)
	}
	config.Directives.HasRole = func(ctx context.Context, _ any, next graphql.Resolver, _ string) (any, error) { return next(ctx) }
	return testgraph.NewExecutableSchema(config)
}

// onlySchema is an executable schema that cannot be executed.
type onlySchema struct {
	graphql.ExecutableSchema
	schema *ast.Schema
}

func (s onlySchema) Schema() *ast.Schema { return s.schema }

// loadShop parses SDL, as file shop.graphqls, beside the declaration of @resilience.
func loadShop(t testing.TB, sdl string) *ast.Schema {
	t.Helper()
	loaded, err := gqlparser.LoadSchema(
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL}, &ast.Source{Name: "shop.graphqls", Input: sdl})
	require.NoError(t, err)
	return loaded
}

// use returns what a server's Use of the extension panics with, "" if it does not.
func use(t testing.TB, es graphql.ExecutableSchema, e *extension.Extension) (message string) {
	t.Helper()
	defer func() {
		if recovered := recover(); recovered != nil {
			err, ok := recovered.(error)
			require.True(t, ok, "Use panicked with %v", recovered)
			message = err.Error()
		}
	}()
	handler.New(es).Use(e)
	return ""
}
