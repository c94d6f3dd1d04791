package main

import (
	"bytes"
	"log"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/tempmodule"
)

const gqlgenYML = `
schema: [schema.graphqls]
exec: {filename: graph/generated.go, package: graph}
model: {filename: graph/models_gen.go, package: graph}
skip_mod_tidy: true
skip_validation: true
`

// call runs the program and returns its exit code and what it prints as errors.
func call(arguments ...string) (code int, problems string) {
	var stdout, stderr bytes.Buffer
	code = run(arguments, &stdout, &stderr)
	return code, stderr.String()
}

func TestTheServerAndItsGuardsAreGeneratedFromAnyFolderBelowTheConfiguration(t *testing.T) {
	tempmodule.New(t, tempmodule.Files(map[string]string{
		"gqlgen.yml":      gqlgenYML,
		"schema.graphqls": "type Query { orders: Int @resilience, quotes: Int, stock: Int, other: Int }",
		"graph/doc.go":    "package graph\n",
	}))
	t.Chdir("graph")
	output, flags := log.Writer(), log.Flags()

	code, problems := call("-guard", "Query.quotes", "-guard", " Query.stock,Query.quotes", "-func", "Protect")

	assert.Equal(t, 0, code)
	assert.Empty(t, problems)
	assert.Equal(t, output, log.Writer())
	assert.Equal(t, flags, log.Flags())
	guards, err := os.ReadFile("graph/resilience_guards.go") // gqlgen goes to the configuration's folder
	require.NoError(t, err)
	assert.Contains(t, string(guards), "\nfunc Protect(")
	for _, coordinate := range []string{"Query.orders", "Query.quotes", "Query.stock"} {
		assert.Contains(t, string(guards), `"`+coordinate+`",`)
	}
	assert.NotContains(t, string(guards), "Query.other")

	code, problems = call("generate", "-config", "gqlgen.yml", "-guard-all", "-verbose")

	assert.Equal(t, 0, code, problems)
	guards, err = os.ReadFile("graph/resilience_guards.go")
	require.NoError(t, err)
	assert.Contains(t, string(guards), `"Query.other",`)
	tempmodule.Go(t, "build", "./...")
}

func TestMistakesAreReportedWithTheirPlaceAndDeleteNothing(t *testing.T) {
	tempmodule.New(t, tempmodule.Files(map[string]string{
		"other.yml":           gqlgenYML,
		"schema.graphqls":     "type Query {\n  orders: Int @resilience(preset: 5) }",
		"graph/generated.go":  "package graph\n",
		"graph/models_gen.go": "package graph\n",
	}))

	code, problems := call("-config", "other.yml", "-guard", "Query.order")

	assert.Equal(t, 1, code)
	assert.Equal(t, `gqlgen-resilience: resilience: mistakes found:
schema.graphqls:2: Query.orders: @resilience(preset: 5): a number: must be a preset's name, a string such as "carrier"
guarding "Query.order": type Query has no field order, did you mean "Query.orders"?
`, problems)

	for _, generated := range []string{"graph/generated.go", "graph/models_gen.go"} {
		content, err := os.ReadFile(generated)
		require.NoError(t, err, "gqlgen has deleted it")
		assert.Equal(t, "package graph\n", string(content))
	}

	code, problems = call("-config", "missing.yml")

	assert.Equal(t, 1, code)
	assert.Contains(t, problems, "gqlgen-resilience: unable to read config: open missing.yml")
}

func TestWrongArgumentsAreExplained(t *testing.T) {
	for _, row := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"destroy"}, `gqlgen-resilience: unknown command "destroy"`},
		{[]string{"generate", "generate"}, `unexpected argument "generate"`},
		{[]string{"-guard-all", "Query.orders"}, `unexpected argument "Query.orders"`},
		{[]string{"-gaurd", "Query.orders"}, "flag provided but not defined: -gaurd"},
		{[]string{"-guard", "Query.orders,,Query.quotes"}, `invalid value "Query.orders,,Query.quotes" for flag -guard: a field is missing`},
		{[]string{"-guard="}, "a field is missing"},
	} {
		code, problems := call(row.arguments...)

		assert.Equal(t, 2, code, row.arguments)
		assert.Contains(t, problems, row.want)
		assert.Contains(t, problems, "\nusage: gqlgen-resilience [command] [flags]\n")
	}
}

func TestHelpNamesCommandsAndFlags(t *testing.T) {
	for _, arguments := range [][]string{{"-h"}, {"generate", "-help"}} {
		code, help := call(arguments...)

		assert.Equal(t, 0, code)
		for _, want := range []string{"usage: gqlgen-resilience", "generate ", "-config file", "-guard fields", "-guard-all", "-func name", "-verbose"} {
			assert.Contains(t, help, want)
		}
		assert.NotContains(t, help, "warned about", "what plan's alone says")
	}
	code, help := call("plan", "-h")
	assert.Equal(t, 0, code)
	for _, want := range []string{"A non-null field without a fallback is not warned about", "-budget time", "-retries number", "-strict"} {
		assert.Contains(t, help, want)
	}
}
