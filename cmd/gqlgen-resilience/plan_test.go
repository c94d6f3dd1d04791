package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inFolder makes files in a folder of their own, and that the working directory for the rest of
// the test.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
}

// callPlan runs the command and returns its exit code and what it prints.
func callPlan(arguments ...string) (code int, output, problems string) {
	var stdout, stderr bytes.Buffer
	code = run(append([]string{"plan"}, arguments...), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

const policiesJSON = `{
  "defaults": {"timeout": {"duration": "5s"}},
  "presets": {"carrier": {
    "timeout": {},
    "retry": {"attempts": 2, "backoff": {"maxDelay": "1s"}},
    "circuitBreaker": {}
  }}
}`

const carrierPlan = `FIELD          POLICY   TIMEOUT         ATTEMPTS  FALLBACK  WORST CASE
Mutation.book  carrier  5s Cooperative  1         -         5s
Query.orders   carrier  2s Enforced     2         -         4.22s (5.01s)

Worst case in brackets: where the dependency asks for longer waits, by Retry-After.

Policy carrier
  retry.attempts          2        preset "carrier"
  retry.backoff.maxDelay  1s       preset "carrier"
  circuitBreaker.name     carrier  preset "carrier"
  Mutation.book, by graph/more/book.graphqls:2
    timeout.duration  5s              Config.Defaults
    no retry          not idempotent
  Query.orders, by graph/orders.graphqls:1
    timeout.duration  2s  graph/orders.graphqls:1
`

var carrierFiles = map[string]string{
	"policies.json":             policiesJSON,
	"graph/orders.graphqls":     `type Query { orders: Int @resilience(preset: "carrier", timeout: "2s") }`,
	"graph/more/book.graphqls":  "type Mutation {\n  book: Int @resilience(preset: \"carrier\") }",
	"graph/more/unused.graphql": "no SDL",
	"gqlgen.yml":                "schema: [graph/*.graphqls, graph/more/*.graphqls]",
}

func TestThePlanOfASchemaIsPrinted(t *testing.T) {
	inFolder(t, carrierFiles)
	for _, arguments := range [][]string{
		{"-schema", "graph/*.graphqls", "-schema", "graph/more/book.graphqls"},
		{"-schema", "graph/**/*.graphqls", "-schema", "graph/*.graphqls"},
		{"-config", "gqlgen.yml", "-strict"},
		{},
	} {
		code, output, problems := callPlan(append(arguments, "-policies", "policies.json")...)

		assert.Equal(t, 0, code, arguments)
		assert.Equal(t, carrierPlan, output, arguments)
		assert.Empty(t, problems, arguments)
	}
}

func TestTheConfigurationIsFoundFromAFolderBelow(t *testing.T) {
	inFolder(t, carrierFiles)
	t.Chdir("graph")

	code, output, problems := callPlan("-policies", "../policies.json")

	assert.Equal(t, 0, code, problems)
	assert.Equal(t, carrierPlan, output)
}

func TestThePlanOfASchemaIsPrintedForTools(t *testing.T) {
	inFolder(t, carrierFiles)

	code, output, problems := callPlan("-policies", "policies.json", "-json")

	assert.Equal(t, 0, code, problems)
	var decoded struct {
		Fields []struct {
			Field    string
			HookedIn string
			Attempts struct{ Query, Mutation int }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(output), &decoded))
	require.Len(t, decoded.Fields, 2)
	assert.Equal(t, "Query.orders", decoded.Fields[1].Field)
	assert.Equal(t, 2, decoded.Fields[1].Attempts.Query)
	assert.Empty(t, decoded.Fields[1].HookedIn)
}

func TestAPlanWithMistakesFailsAndTellsThemAll(t *testing.T) {
	for _, row := range []struct {
		behaviour, sdl, policies, want string
	}{
		{"annotations", "type Query {\n  orders: Int @resilience(preset: \"carier\")\n  order: Int @resilience(timeout: \"2\")\n}", policiesJSON,
			`gqlgen-resilience: gqlresilience:
schema.graphqls:3: Query.order: @resilience(timeout: "2"): the unit is missing: must be a positive duration such as "1.5s" or "200ms", or "off", or "default"
schema.graphqls:2: Query.orders: unknown preset "carier": did you mean "carrier"?
`},
		{"policies, and what can be told of annotations without", "type Query {\n  order: Int @resilience(timeout: \"2\")\n}",
			`{"presets": {"a": {"retry": {"attempts": 0}}, "b": {"timeout": {}}}}`,
			`gqlgen-resilience: policies.json: policy.NewRegistry:
retry.attempts: 0 (preset "a"): must be at least 1
timeout.duration: missing (preset "b"): the stage is on and needs a duration or a total
schema.graphqls:2: Query.order: @resilience(timeout: "2"): the unit is missing: must be a positive duration such as "1.5s" or "200ms", or "off", or "default"
`},
		{"JSON", "type Query { order: Int }", `{"presets": {"a": {"retri": {}}}}`,
			`gqlgen-resilience: policies.json: policy.DecodeConfig:
presets.a.retri: unknown: did you mean "retry"?
`},
		{"SDL", "type Query {\n  order: Oder }", "{}", "gqlgen-resilience: schema.graphqls:2:10: Undefined type Oder.\n"},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			inFolder(t, map[string]string{"schema.graphqls": row.sdl, "policies.json": row.policies})

			code, output, problems := callPlan("-schema", "schema.graphqls", "-policies", "policies.json")

			assert.Equal(t, 1, code)
			assert.Empty(t, output)
			assert.Equal(t, row.want, problems)
		})
	}
}

func TestMissingFilesOfAPlanAreNamed(t *testing.T) {
	inFolder(t, carrierFiles)
	for want, arguments := range map[string][]string{
		`-schema: no file matches "graph/*.sdl"`:               {"-schema", "graph/*.sdl"},
		"-policies: open none.json: no such file":              {"-policies", "none.json"},
		"unable to read config: open none.yml: no such file":   {"-config", "none.yml"},
		`graph/more/unused.graphql:1:1: Unexpected Name "no"`:  {"-schema", "graph/more/*"},
		`Query.orders: unknown preset "carrier": the registry`: {"-config", "gqlgen.yml"},
	} {
		code, output, problems := callPlan(arguments...)

		assert.Equal(t, 1, code, arguments)
		assert.Empty(t, output, arguments)
		assert.Contains(t, problems, want)
	}
}

func TestAPlansWarningsFailOnlyWhereTheyMust(t *testing.T) {
	inFolder(t, carrierFiles)
	const warnings = "warning: graph/more/book.graphqls:2: Mutation.book: may take 5s, but the operation's budget is 4s: what comes last is cut off\n" +
		"warning: graph/orders.graphqls:1: Query.orders: may take 4.22s, but the operation's budget is 4s: what comes last is cut off\n"

	code, output, problems := callPlan("-policies", "policies.json", "-budget", "4s")

	assert.Equal(t, 0, code)
	assert.Equal(t, "Budget of an operation: 4s\n\n"+carrierPlan, output)
	assert.Equal(t, warnings, problems)

	code, output, problems = callPlan("-policies", "policies.json", "-budget", "4s", "-strict")

	assert.Equal(t, 1, code)
	assert.NotEmpty(t, output)
	assert.Equal(t, warnings+"gqlgen-resilience: warnings: 2\n", problems)
}

func TestAPlanIsNotMadeOfSchemaAndConfiguration(t *testing.T) {
	code, output, problems := callPlan("-schema", "a", "-config", "b")

	assert.Equal(t, 2, code)
	assert.Empty(t, output)
	assert.Equal(t, "-schema and -config: give one of them\n", problems)
}

func TestAPlanIsNotWarnedAboutForWhatGoCodeMayGiveIt(t *testing.T) {
	inFolder(t, map[string]string{"policies.json": policiesJSON, "schema.graphqls": `
directive @goField(batch: Boolean) on FIELD_DEFINITION
type Query { orders: [Order!]! @resilience(timeout: "2s") }
type Order @resilience(timeout: "1s") {
  id: ID!
  stock: Int @resilience(timeout: "2s") @goField(batch: true)
}`})

	code, output, problems := callPlan("-schema", "schema.graphqls", "-policies", "policies.json", "-strict")

	assert.Equal(t, 0, code, problems)
	assert.Empty(t, problems)
	assert.Regexp(t, `Query\.orders +Query\.orders +2s Enforced +1 +- +2\.01s\n`, output, "no fallback is made up")
	assert.Contains(t, output, "    failure takes along  the whole response\n")

	code, _, problems = callPlan("-schema", "schema.graphqls", "-policies", "policies.json", "-strict", "-budget", "1s")

	assert.Equal(t, 1, code)
	assert.Equal(t, "warning: schema.graphqls:6: Order.stock: may take 2.01s, but the operation's budget is 1s: what comes last is cut off\n"+
		"warning: schema.graphqls:3: Query.orders: may take 2.01s, but the operation's budget is 1s: what comes last is cut off\n"+
		"gqlgen-resilience: warnings: 2\n", problems, "not where nothing but the type is annotated")
}

func TestABudgetForRetriesAnswersTheWarningAboutNestedOnes(t *testing.T) {
	inFolder(t, map[string]string{"policies.json": policiesJSON, "schema.graphqls": `
type Query { orders: [Order] @resilience(preset: "carrier") }
type Order { quotes: Int @resilience(preset: "carrier") }`})
	arguments := []string{"-schema", "schema.graphqls", "-policies", "policies.json", "-strict"}

	code, _, problems := callPlan(arguments...)

	assert.Equal(t, 1, code)
	assert.Contains(t, problems, "Order.quotes: up to 2 attempts, for each item under Query.orders")

	for retries, want := range map[string]string{"10": "Budget of an operation: retries: 10\n", "0": "Budget of an operation: retries: 0\n"} {
		code, output, problems := callPlan(append(arguments, "-retries", retries)...)

		assert.Equal(t, 0, code)
		assert.Empty(t, problems)
		assert.Contains(t, output, want)
	}
}

func TestWrongNumbersOfAPlansBudgetAreExplained(t *testing.T) {
	for want, argument := range map[string]string{
		`invalid value "-1s" for flag -budget: must be a positive duration such as 3s`: "-budget=-1s",
		`invalid value "0" for flag -budget: must be a positive duration such as 3s`:   "-budget=0",
		`invalid value "3" for flag -budget: must be a positive duration such as 3s`:   "-budget=3",
		`invalid value "-1" for flag -retries: must be a number such as 10, or 0`:      "-retries=-1",
		`invalid value "few" for flag -retries: must be a number such as 10, or 0`:     "-retries=few",
	} {
		code, output, problems := callPlan(argument)

		assert.Equal(t, 2, code, argument)
		assert.Empty(t, output, argument)
		assert.Contains(t, problems, want)
	}
}

func TestWithoutSchemaAndConfigurationItIsSaidHowToNameThem(t *testing.T) {
	inFolder(t, map[string]string{})
	const lacking = "gqlgen-resilience: no gqlgen.yml, .gqlgen.yml or gqlgen.yaml here or in a folder above, and no schema.graphql here: name the configuration with -config"

	code, _, problems := callPlan()

	assert.Equal(t, 1, code)
	assert.Equal(t, lacking+", or the schema with -schema\n", problems)

	code, problems = call("generate")

	assert.Equal(t, 1, code)
	assert.Equal(t, lacking+"\n", problems)
}
