package plugin_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/tempmodule"
	"github.com/gqlresilience/gqlresilience/schema/plugin"
)

const gqlgenYML = `
schema: [schema.graphqls]
exec: {filename: generated.go, package: app}
model: {filename: models_gen.go, package: app}
models: {Order: {fields: {quotes: {resolver: true}}}}
skip_mod_tidy: true
skip_validation: true
`

// newModule makes a module of gqlgenYML, the SDL and more files, given as name and content.
func newModule(t *testing.T, sdl string, more ...string) {
	t.Helper()
	files := map[string]string{"gqlgen.yml": gqlgenYML, "schema.graphqls": sdl}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	tempmodule.New(t, tempmodule.Files(files))
}

// generate runs gqlgen with the plugin on the gqlgen.yml in the working directory.
func generate(t *testing.T, options ...plugin.Option) error {
	t.Helper()
	cfg, err := config.LoadConfig("gqlgen.yml")
	require.NoError(t, err)
	return api.Generate(cfg, api.AddPlugin(plugin.New(cfg, options...)))
}

// guardedFields returns what GuardedFields returns in the guards in directory; nil if there
// is no such method.
func guardedFields(t *testing.T, directory string) (coordinates []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(directory, "resilience_guards.go"), nil, 0)
	require.NoError(t, err)
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Name.Name == "GuardedFields" {
			ast.Inspect(function, func(node ast.Node) bool {
				if literal, ok := node.(*ast.BasicLit); ok {
					coordinate, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					coordinates = append(coordinates, coordinate)
				}
				return true
			})
		}
	}
	return coordinates
}

// registered returns the strings that the guards in directory register under the key of a
// GeneratedCode, with the types that stand behind them.
func registered(t *testing.T, directory, key string) (entries []string) {
	t.Helper()
	name := filepath.Join(directory, "resilience_guards.go")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		if pair, ok := node.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok && name.Name == key {
				for _, element := range pair.Value.(*ast.CompositeLit).Elts {
					entry := string(text[element.Pos()-1 : element.End()-1])
					entries = append(entries, strings.Join(strings.Fields(entry), " ")) // without its alignment
				}
			}
		}
		return true
	})
	return entries
}
