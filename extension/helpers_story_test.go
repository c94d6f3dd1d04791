package extension_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// presets are a registry's, by name.
type presets map[string]policy.Spec

// newRegistry makes a registry of presets and of "dependency", which the test schema names.
func newRegistry(t testing.TB, of presets) *policy.Registry {
	t.Helper()
	all := presets{"dependency": {Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)}}}
	for name, spec := range of {
		all[name] = spec
	}
	registry, err := policy.NewRegistry(policy.Config{Presets: all})
	require.NoError(t, err)
	return registry
}

// protect returns a server whose resolvers are stub's, with an extension in use.
func protect(stub *testgraph.Stub, registry *policy.Registry, options ...extension.Option) *handler.Server {
	server := testgraph.NewServer(stub)
	server.Use(extension.New(registry, options...))
	return server
}

// underPreset is the option that puts a field under a preset.
func underPreset(coordinate, preset string) extension.Option {
	return extension.WithField(coordinate, extension.Field{Preset: preset})
}

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
	config := testgraph.Config{Schema: s, Resolvers: stub}
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

// rawPost returns the body of a response, as it goes over the wire.
func rawPost(ctx context.Context, t testing.TB, server http.Handler, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, request)
	require.Equal(t, http.StatusOK, recorder.Code)
	return recorder.Body.String()
}

// logs is a logger and what it was given, one line each without the time.
func logs() (logger *slog.Logger, lines func() []string) {
	var text bytes.Buffer
	logger = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	return logger, func() []string {
		return strings.FieldsFunc(text.String(), func(r rune) bool { return r == '\n' })
	}
}

// defaultLogs catches what goes to slog's default logger until the test ends.
func defaultLogs(t testing.TB) (lines func() []string) {
	t.Helper()
	logger, lines := logs()
	before := slog.Default()
	slog.SetDefault(logger)
	t.Cleanup(func() { slog.SetDefault(before) })
	return lines
}

// itemsOf makes the resolver of a list.
func itemsOf(ids ...string) func(context.Context, *int) ([]*model.Item, error) {
	items := make([]*model.Item, len(ids))
	for i, id := range ids {
		items[i] = &model.Item{ID: id, Name: "item " + id}
	}
	return func(context.Context, *int) ([]*model.Item, error) { return items, nil }
}

// hang waits until the context ends and returns its error, as an obedient resolver does.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
