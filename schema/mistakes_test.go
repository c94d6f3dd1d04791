package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

func TestWalkReportsMistakesOfDirectivesWithTheirPlace(t *testing.T) {
	for _, row := range []struct {
		behaviour string
		sdl       string
		want      string
	}{
		{
			"a field's argument",
			"type Query {\n  x: Int @resilience(timeout: \"5\") }",
			`schema.graphqls:2: Query.x: @resilience(timeout: "5"): the unit is missing: must be a positive duration`,
		},
		{
			"a type's argument",
			"type Query @resilience(preset: 5) { x: Int }",
			`schema.graphqls:1: type Query: @resilience(preset: 5): a number: must be a preset's name`,
		},
		{
			"a field of an interface",
			`type Query { node: Node }
			type Shipment implements Node { owner: Int }
			type Order implements Node { owner: Int }
			interface Sub implements Node { owner: Int }
			interface Node { owner: Int @resilience }`,
			`schema.graphqls:5: Node.owner: @resilience on a field of an interface: ` +
				`policies belong to object types, so put it on Order.owner, Shipment.owner`,
		},
		{
			"a field of an interface that nothing implements",
			"type Query { node: Node } interface Node { owner: Int @resilience }",
			`schema.graphqls:1: Node.owner: @resilience on a field of an interface: no object type implements it`,
		},
		{
			"a field of federation",
			"type Query {\n _service: Int @resilience }",
			`schema.graphqls:2: Query._service: @resilience on a field of federation, which never passes a policy`,
		},
		{
			"a directive on a type and on its extension",
			"type Query @resilience { x: Int }\nextend type Query @resilience(preset: \"a\")",
			`schema.graphqls:2: type Query: @resilience is given twice, here and at schema.graphqls:1; ` +
				`it may stand once, for the whole of it`,
		},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			fields, _, err := schema.Walk(load(t, row.sdl), nil)

			require.ErrorContains(t, err, row.want)
			assert.NotContains(t, err.Error(), "\n", "one mistake, one error")
			assert.Empty(t, fields)
		})
	}
}

func TestWalkReportsSettingsOfWhatIsNoField(t *testing.T) {
	loaded := load(t, `
type Query { shippingQuotes: Int order: Order _entities: Int }
type Order implements Node { owner: Int quotes: Int }
interface Node { owner: Int }
input Box { weight: Int }
enum Size { BIG }
scalar Price
union Any = Order`)

	for coordinate, want := range map[string]string{
		"":                     `"" is not a field: must be a type and a field, such as "Query.orders"`,
		"Query":                `"Query" is not a field: must be a type and a field, such as "Query.orders"`,
		"Query.":               `"Query." is not a field: must be`,
		".order":               `".order" is not a field: must be`,
		"Query.order.id":       `"Query.order.id" is not a field: must be`,
		"Query.order ":         `"Query.order " is not a field: must be`,
		"Query.0rder":          `"Query.0rder" is not a field: must be`,
		"Query.shippingQuote":  `type Query has no field shippingQuote, did you mean "Query.shippingQuotes"?`,
		"Query.warehouse":      `type Query has no field warehouse`,
		"Qurey.shippingQuotes": `there is no type Qurey, did you mean "Query.shippingQuotes"?`,
		"Ordr.quote":           `there is no type Ordr, did you mean "Order.quotes"?`,
		"Ordr.zzzzzz":          `there is no type Ordr, did you mean "Order"?`,
		"Warehouse.stock":      `there is no type Warehouse`,
		"Node.owner":           `Node (schema.graphqls:3) is an interface: policies belong to object types, so put it on Order.owner`,
		"Node.ownr":            `type Node has no field ownr, did you mean "Node.owner"?`,
		"Box.weight":           `Box (schema.graphqls:4) is an input type: only fields of object types have policies`,
		"Size.BIG":             `Size (schema.graphqls:5) is an enum: only fields of object types have policies`,
		"Price.x":              `Price (schema.graphqls:6) is a scalar: only fields of object types have policies`,
		"Any.x":                `Any (schema.graphqls:7) is a union: only fields of object types have policies`,
		"Query.__typename":     `Query.__typename belongs to introspection, which has no policies`,
		"Query.__schema":       `Query.__schema belongs to introspection, which has no policies`,
		"__Type.name":          `__Type.name belongs to introspection, which has no policies`,
		"Query._entities":      `Query._entities belongs to federation, and never passes a policy`,
	} {
		t.Run(coordinate, func(t *testing.T) {
			settings := map[string]schema.Settings{coordinate: {Preset: "carrier", Origin: `WithField("` + coordinate + `")`}}

			fields, _, err := schema.Walk(loaded, settings)

			require.ErrorContains(t, err, `WithField("`+coordinate+`"): `+want)
			if !strings.Contains(want, "did you mean") {
				assert.NotContains(t, err.Error(), "did you mean")
			}
			assert.Empty(t, fields)
		})
	}
}

func TestWalkKnowsTheRootTypesByTheirUsualNames(t *testing.T) {
	loaded := load(t, "schema { query: Root mutation: Changes }\ntype Root { order: Int }\ntype Changes { book: Int }")

	_, _, err := schema.Walk(loaded, map[string]schema.Settings{"Query.order": {}, "Mutation.bock": {}, "Subscription.x": {}})

	assert.EqualError(t, err, strings.Join([]string{
		`settings of "Mutation.bock": there is no type Mutation, did you mean "Changes.book"?`,
		`settings of "Query.order": there is no type Query, did you mean "Root.order"?`,
		`settings of "Subscription.x": there is no type Subscription`,
	}, "\n"))
}

func TestWalkRejectsASettingGivenByTheFieldsDirectiveAndByGoCode(t *testing.T) {
	const twice = ` is given twice, here and by WithField("Query.x")`
	cooperative := &policy.TimeoutSpec{Mode: new(policy.Cooperative)}

	for _, row := range []struct {
		behaviour string
		arguments string
		settings  schema.Settings
		want      []string
	}{
		{"preset", `(preset: "a")`, schema.Settings{Preset: "b"}, []string{"preset" + twice}},
		{"the same preset", `(preset: "a")`, schema.Settings{Preset: "a"}, []string{"preset" + twice}},
		{"idempotent", `(idempotent: true)`, schema.Settings{Idempotent: new(true)}, []string{"idempotent" + twice}},
		{"a timeout's duration", `(timeout: "1s")`, schema.Settings{Spec: timeout(time.Second)}, []string{"timeout" + twice}},
		{"a timeout's duration against default", `(timeout: "default")`, schema.Settings{Spec: timeout(time.Second)}, []string{"timeout" + twice}},
		{"a timeout on or off", `(timeout: "1s")`,
			schema.Settings{Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Enabled: new(false)}}}, []string{"timeout" + twice}},
		{"settings of a timeout that is off", `(timeout: "off")`, schema.Settings{Spec: policy.Spec{Timeout: cooperative}},
			[]string{`timeout is off here and set by WithField("Query.x")`}},
		{"all three", `(preset: "a", timeout: "1s", idempotent: true)`,
			schema.Settings{Preset: "b", Idempotent: new(false), Spec: timeout(time.Second)},
			[]string{"preset" + twice, "timeout" + twice, "idempotent" + twice}},

		{"a timeout's mode is another setting", `(timeout: "1s")`, schema.Settings{Spec: policy.Spec{Timeout: cooperative}}, nil},
		{"a timeout's total is another setting", `(timeout: "1s")`,
			schema.Settings{Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Total: new(time.Minute)}}}, nil},
		{"null gives nothing", `(preset: null, timeout: null, idempotent: null)`,
			schema.Settings{Preset: "b", Idempotent: new(false), Spec: timeout(time.Second)}, nil},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			row.settings.Origin = `WithField("Query.x")`
			loaded := load(t, "type Query {\n  x: Int @resilience"+row.arguments+" }")

			fields, _, err := schema.Walk(loaded, map[string]schema.Settings{"Query.x": row.settings})

			if row.want == nil {
				require.NoError(t, err)
				assert.Len(t, fields, 1)
				return
			}
			for i := range row.want {
				row.want[i] = "schema.graphqls:2: Query.x: " + row.want[i]
			}
			assert.EqualError(t, err, strings.Join(row.want, "\n"))
			assert.Empty(t, fields)
		})
	}
}

func TestWalkReportsEverythingAtOnceInTheOrderOfTheSchema(t *testing.T) {
	loaded := loadSources(t,
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "b.graphqls", Input: "type Zebra { x: Int @resilience(preset: 1) }"},
		&ast.Source{Name: "a.graphqls", Input: `
			type Query @resilience(timeout: "2", preset: "") { zebra: Zebra @resilience(timeout: 3) }
			type Owl { x: Int @resilience(preset: "ok") y: Int @resilience(timeout: "now", idempotent: 4) }
			type Ape { x: Int @resilience(preset: "ok") }`},
	)

	want := []string{
		`a.graphqls:2: type Query: @resilience(timeout: "2")`,
		`a.graphqls:2: type Query: @resilience(preset: "")`,
		`a.graphqls:2: Query.zebra: @resilience(timeout: 3)`,
		`a.graphqls:3: Owl.y: @resilience(timeout: "now")`,
		`a.graphqls:3: Owl.y: @resilience(idempotent: 4)`,
		`a.graphqls:4: Ape.x: preset`,
		`b.graphqls:1: Zebra.x: @resilience(preset: 1)`,
		`settings of "Alas.x": there is no type Alas`,
		`settings of "Nobody.x": there is no type Nobody`,
	}
	for range 20 { // the schema is full of maps
		fields, _, err := schema.Walk(loaded, map[string]schema.Settings{
			"Ape.x": {Preset: "twice", Origin: "Go"}, "Nobody.x": {}, "Alas.x": {},
		})

		require.Error(t, err)
		mistakes := strings.Split(err.Error(), "\n")
		require.Len(t, mistakes, len(want), err.Error())
		for i, mistake := range mistakes {
			require.True(t, strings.HasPrefix(mistake, want[i]), "%q must begin with %q", mistake, want[i])
		}
		assert.Equal(t, []string{"Owl.x"}, coordinates(fields), "the one field without a mistake")
	}
}
