package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASubgraphNeedsNotDeclareWhatGeneratingDoes(t *testing.T) {
	inFolder(t, map[string]string{"schema.graphqls": `
extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
type Query { order: Order @resilience(timeout: "1s") }
type Order @key(fields: "id") { id: ID! @shareable }`})

	code, output, problems := callPlan("-schema", "schema.graphqls")

	assert.Equal(t, 0, code, problems)
	assert.Contains(t, output, "\nQuery.order ")
}

func TestASchemaThatOnlyMentionsFederationIsNoSubgraph(t *testing.T) {
	inFolder(t, map[string]string{"schema.graphqls": `
# Not yet a subgraph: see https://specs.apollo.dev/federation/v2.3
directive @key(fields: String!) on OBJECT
schema @link(url: "https://example.com/federation/v2.3") { query: Query }
directive @link(url: String!) on SCHEMA
"As https://specs.apollo.dev/federation/v2.3 has them."
type Query { order: Order @resilience(timeout: "1s") }
type Order @key(fields: "id") { id: ID! }`})

	code, output, problems := callPlan("-schema", "schema.graphqls")

	assert.Equal(t, 0, code, problems)
	assert.Contains(t, output, "\nQuery.order ")
}

func TestThePlanOfASubgraphKnowsWhatTheGatewayAsksFor(t *testing.T) {
	const sdl = `
extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
type Query { version: Int }
type Order @key(fields: "id") { id: ID! price: Int! @resilience(timeout: "1s") }`
	for behaviour, files := range map[string]map[string]string{
		"a link":          {"schema.graphqls": sdl},
		"a configuration": {"schema.graphqls": sdl[strings.Index(sdl, "type Query"):], "gqlgen.yml": "schema: [schema.graphqls]\nfederation: {filename: federation.go, version: 2}"},
		"one printed with all of it": {"schema.graphqls": sdl + `
union _Entity = Order
type _Service { sdl: String }
extend type Query { _service: _Service!, _entities(representations: [_Any!]!): [_Entity]! }`},
	} {
		t.Run(behaviour, func(t *testing.T) {
			inFolder(t, files)
			arguments := []string{"-schema", "schema.graphqls"}
			if files["gqlgen.yml"] != "" {
				arguments = nil
			}

			code, output, problems := callPlan(arguments...)

			assert.Equal(t, 0, code, problems)
			assert.Contains(t, output, "failure takes along  an item of Query._entities")
		})
	}
}
