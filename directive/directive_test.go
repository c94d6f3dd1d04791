package directive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/gqlresilience/gqlresilience/directive"
	"github.com/gqlresilience/gqlresilience/policy"
)

// annotation parses a schema whose one field carries @resilience, with arguments in
// parentheses or nothing behind it.
func annotation(t *testing.T, arguments string) *ast.Directive {
	t.Helper()
	document, err := parser.ParseSchema(&ast.Source{
		Name:  "schema.graphqls",
		Input: "type Query {\n  field: String @resilience" + arguments + "\n}",
	})
	require.NoError(t, err)
	return document.Definitions[0].Fields[0].Directives[0]
}

func TestParseHoldsWhatTheDirectiveSaysAndNothingElse(t *testing.T) {
	for _, row := range []struct {
		arguments string
		want      directive.Directive
	}{
		{``, directive.Directive{}},
		{`(preset: "carrier")`, directive.Directive{Preset: new("carrier")}},
		{`(preset: """carrier""")`, directive.Directive{Preset: new("carrier")}},
		{`(timeout: "1.5s")`, directive.Directive{Timeout: &policy.TimeoutSpec{Duration: new(1500 * time.Millisecond)}}},
		{`(timeout: """200ms""")`, directive.Directive{Timeout: &policy.TimeoutSpec{Duration: new(200 * time.Millisecond)}}},
		{`(timeout: "off")`, directive.Directive{Timeout: &policy.TimeoutSpec{Enabled: new(false)}}},
		{`(timeout: "default")`, directive.Directive{Timeout: &policy.TimeoutSpec{}}},
		{`(idempotent: true)`, directive.Directive{Idempotent: new(true)}},
		{`(idempotent: false)`, directive.Directive{Idempotent: new(false)}},
		{`(preset: null, timeout: null, idempotent: null)`, directive.Directive{}},
		{`(preset: "carrier", timeout: "2s", idempotent: true)`, directive.Directive{
			Preset:     new("carrier"),
			Timeout:    &policy.TimeoutSpec{Duration: new(2 * time.Second)},
			Idempotent: new(true),
		}},
	} {
		t.Run(row.arguments, func(t *testing.T) {
			annotation := annotation(t, row.arguments)
			row.want.Position = annotation.Position

			parsed, err := directive.Parse(annotation)

			require.NoError(t, err)
			assert.Equal(t, row.want, parsed)
			assert.Equal(t, "schema.graphqls:2", directive.Location(parsed.Position))
		})
	}
}

func TestParseNamesArgumentValueAndWhatIsExpected(t *testing.T) {
	const (
		aPreset  = `must be a preset's name`
		aTimeout = `must be a positive duration such as "1.5s" or "200ms", or "off", or "default"`
	)
	for _, row := range []struct {
		arguments string
		want      string
	}{
		{`(preset: "")`, `@resilience(preset: ""): empty: ` + aPreset + `, such as "carrier"`},
		{`(preset: "  ")`, `@resilience(preset: "  "): empty: ` + aPreset + `, such as "carrier"`},
		{`(preset: 5)`, `@resilience(preset: 5): a number: ` + aPreset + `, a string such as "carrier"`},
		{`(preset: 1.5)`, `@resilience(preset: 1.5): a number: ` + aPreset + `, a string such as "carrier"`},
		{`(preset: carrier)`, `@resilience(preset: carrier): a name without quotes: ` + aPreset + `, a string such as "carrier"`},
		{`(preset: true)`, `@resilience(preset: true): a boolean: ` + aPreset + `, a string such as "carrier"`},
		{`(preset: ["a"])`, `@resilience(preset: […]): a list: ` + aPreset + `, a string such as "carrier"`},
		{`(preset: {name: "a"})`, `@resilience(preset: {…}): an object: ` + aPreset + `, a string such as "carrier"`},
		{`(timeout: "")`, `@resilience(timeout: ""): empty: ` + aTimeout},
		{`(timeout: "0")`, `@resilience(timeout: "0"): zero: ` + aTimeout},
		{`(timeout: "0s")`, `@resilience(timeout: "0s"): zero: ` + aTimeout},
		{`(timeout: "0.1ns")`, `@resilience(timeout: "0.1ns"): zero: ` + aTimeout},
		{`(timeout: "-1s")`, `@resilience(timeout: "-1s"): negative: ` + aTimeout},
		{`(timeout: "5")`, `@resilience(timeout: "5"): the unit is missing: ` + aTimeout},
		{`(timeout: "1m30")`, `@resilience(timeout: "1m30"): the unit is missing: ` + aTimeout},
		{`(timeout: "soon")`, `@resilience(timeout: "soon"): not a duration: ` + aTimeout},
		{`(timeout: "1 s")`, `@resilience(timeout: "1 s"): not a duration: ` + aTimeout},
		{`(timeout: "OFF")`, `@resilience(timeout: "OFF"): not a duration: ` + aTimeout},
		{`(timeout: "9999999h")`, `@resilience(timeout: "9999999h"): not a duration: ` + aTimeout},
		{`(timeout: off)`, `@resilience(timeout: off): a name without quotes: ` + aTimeout + `, a string`},
		{`(timeout: 5)`, `@resilience(timeout: 5): a number: ` + aTimeout + `, a string`},
		{`(idempotent: "true")`, `@resilience(idempotent: "true"): a string: must be true or false`},
		{`(idempotent: 1)`, `@resilience(idempotent: 1): a number: must be true or false`},
		{`(idempotent: yes)`, `@resilience(idempotent: yes): a name without quotes: must be true or false`},
		{`(retries: 3)`, `@resilience(retries: 3): no such argument: must be preset, timeout or idempotent`},
		{`(preset: "a", preset: "a")`, `@resilience(preset: "a"): the argument is given twice`},
	} {
		t.Run(row.arguments, func(t *testing.T) {
			_, err := directive.Parse(annotation(t, row.arguments))

			assert.EqualError(t, err, row.want)
		})
	}
}

func TestParseReportsAllMistakesOfADirectiveAtOnce(t *testing.T) {
	parsed, err := directive.Parse(annotation(t, `(preset: 5, timeout: "5", idempotent: true, retries: 3)`))

	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "the error must be a join")
	require.Len(t, joined.Unwrap(), 3)
	assert.ErrorContains(t, joined.Unwrap()[0], "preset: 5")
	assert.ErrorContains(t, joined.Unwrap()[1], `timeout: "5"`)
	assert.ErrorContains(t, joined.Unwrap()[2], "retries: 3")

	assert.Nil(t, parsed.Preset)
	assert.Nil(t, parsed.Timeout)
	assert.Equal(t, new(true), parsed.Idempotent, "what is well formed must be kept")
}

func TestParseReportsWhatOnlyAHandMadeDirectiveCanHold(t *testing.T) {
	argument := func(name string, value *ast.Value) *ast.Directive {
		return &ast.Directive{Arguments: ast.ArgumentList{nil, {Name: name, Value: value}}}
	}
	for _, row := range []struct {
		behaviour string
		directive *ast.Directive
		want      string
	}{
		{"no directive", nil, "no directive to parse"},
		{"an argument without a value", argument("timeout", nil),
			`@resilience(timeout: ): the argument has no value`},
		{"a variable", argument("idempotent", &ast.Value{Kind: ast.Variable, Raw: "again"}),
			`@resilience(idempotent: $again): a variable: must be true or false`},
		{"a kind that the parser does not know", argument("idempotent", &ast.Value{Kind: 42, Raw: "?"}),
			`@resilience(idempotent: ?): an unknown kind of value: must be true or false`},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			_, err := directive.Parse(row.directive)

			assert.EqualError(t, err, row.want)
		})
	}
}
