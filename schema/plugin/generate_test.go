package plugin_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/schema"
	"github.com/gqlresilience/gqlresilience/schema/plugin"
)

func TestMalformedAnnotationsFailTheGenerationAllAtOnceWithTheirPlace(t *testing.T) {
	newModule(t, `type Query {
		orders: [Order!] @resilience(timeout: "5")
	}
	type Order @resilience(preset: "") { id: ID!, quotes: Int }
	interface Node { id: ID! @resilience }`)

	err := generate(t, plugin.GuardFields("Query.order", "Order.quotes"))

	assert.EqualError(t, err, `resilience: mistakes found:
schema.graphqls:2: Query.orders: @resilience(timeout: "5"): the unit is missing: must be a positive duration such as "1.5s" or "200ms", or "off", or "default"
schema.graphqls:4: type Order: @resilience(preset: ""): empty: must be a preset's name, such as "carrier"
schema.graphqls:5: Node.id: @resilience on a field of an interface: no object type implements it
guarding "Query.order": type Query has no field order, did you mean "Query.orders"?`)
}

func TestADeclarationThatDiffersFailsTheGeneration(t *testing.T) {
	newModule(t, `type Query { orders: Int }
		directive @resilience(preset: String, timeout: Int) on FIELD_DEFINITION | OBJECT`)

	assert.EqualError(t, generate(t), `resilience: mistakes found:
schema.graphqls:2: directive @resilience: argument timeout must be of type String, not Int
schema.graphqls:2: directive @resilience: argument idempotent: Boolean is missing`)
}

func TestADeclarationOfTheSchemasOwnIsKept(t *testing.T) {
	newModule(t, schema.SDL+"\ntype Query { orders: Int @resilience }")

	require.NoError(t, generate(t))

	assert.Equal(t, []string{"Query.orders"}, guardedFields(t, "."))
	generated, err := os.ReadFile("generated.go")
	require.NoError(t, err)
	assert.NotContains(t, string(generated), "resilience.graphqls")
	assert.Contains(t, string(generated), "type DirectiveRoot struct {\n}", "there is nothing to run for it")
}

func TestFieldsWithoutAResolverCannotBeGuarded(t *testing.T) {
	newModule(t, "type Query { orders: [Order!] } type Order { id: ID!, quotes: Int, quote: Int, total: Int }",
		"order.go", "package app\n\ntype Order struct{ ID string; Quote *int }\n\nfunc (Order) Total() *int { return nil }\n",
		"gqlgen.yml", gqlgenYML+"autobind: [example.com/app]\n")

	err := generate(t, plugin.GuardFields("Order.total", "Order.quote", "Query.orders", "Order.id"))

	assert.EqualError(t, err, `resilience: guarding "Order.id": the field has no resolver
guarding "Order.quote": the field has no resolver, did you mean "Order.quotes"?
guarding "Order.total": the field is bound to a Go method, which has no guard: its policy runs in the field middleware`)
}

func TestFieldsThatOnlyCodeConfiguresAreGuardedByRequest(t *testing.T) {
	newModule(t, "type Query { orders: [Order!], other: Int } type Order { id: ID!, quotes: Int }")

	require.NoError(t, generate(t, plugin.GuardFields("Order.quotes"), plugin.GuardFields("Query.orders")))

	assert.Equal(t, []string{"Order.quotes", "Query.orders"}, guardedFields(t, "."))
}

func TestGuardStaysWhenNothingIsGuardedAnyMore(t *testing.T) {
	newModule(t, "type Query { orders: Int @resilience }")
	require.NoError(t, generate(t))
	require.NoError(t, os.WriteFile("schema.graphqls", []byte("type Query { orders: Int }"), 0o600))

	require.NoError(t, generate(t))

	assert.Nil(t, guardedFields(t, "."))
	guards, err := os.ReadFile("resilience_guards.go")
	require.NoError(t, err)
	assert.Contains(t, string(guards), "func Guard(resolvers ResolverRoot) ResolverRoot { return resolvers }")
	assert.Contains(t, string(guards), "RegisterGuards[ResolverRoot](gqlresilience.GeneratedCode{})", "so that plain data is known")
}

func TestATypeOfTheFuncsNameFailsTheGenerationUnlessTheFuncHasAnother(t *testing.T) {
	newModule(t, "type Query { guard: Guard @resilience } type Guard { id: ID! }")

	assert.ErrorContains(t, generate(t), "models_gen.go:5:6 declares Guard, which the guards declare too; "+
		"the func may have another name (plugin.FuncName, on the command line -func)")
	require.NoError(t, generate(t, plugin.FuncName("GuardResolvers")))

	guards, err := os.ReadFile("resilience_guards.go")
	require.NoError(t, err)
	assert.Contains(t, string(guards), "\nfunc GuardResolvers(resolvers ResolverRoot) ResolverRoot {")
	assert.NotContains(t, string(guards), "\nfunc Guard(")
}
