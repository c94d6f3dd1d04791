package schema_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// load makes a schema of sdl, in schema.graphqls, with the directive declared.
func load(t testing.TB, sdl string) *ast.Schema {
	t.Helper()
	return loadSources(t,
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "schema.graphqls", Input: strings.TrimSpace(sdl)},
	)
}

func loadSources(t testing.TB, sources ...*ast.Source) *ast.Schema {
	t.Helper()
	loaded, err := gqlparser.LoadSchema(sources...)
	require.NoError(t, err)
	return loaded
}

func timeout(d time.Duration) policy.Spec {
	return policy.Spec{Timeout: &policy.TimeoutSpec{Duration: &d}}
}

func coordinates(fields []schema.Field) []string {
	found := []string{}
	for _, field := range fields {
		found = append(found, field.Coordinate())
	}
	return found
}

func TestWalkTakesEachSettingFromTheFirstThatGivesIt(t *testing.T) {
	const (
		here   = "schema.graphqls:2"
		ofType = "schema.graphqls:1 (type Query)"
		goSide = `WithField("Query.x")`
	)
	retry := policy.Spec{Retry: &policy.RetrySpec{Attempts: new(2)}}
	off := policy.Spec{Timeout: &policy.TimeoutSpec{Enabled: new(false)}}
	inherited := policy.Spec{Timeout: &policy.TimeoutSpec{}}

	for _, row := range []struct {
		behaviour string
		onType    string
		onField   string
		settings  *schema.Settings
		want      schema.Field
	}{
		{
			behaviour: "a directive without arguments",
			onField:   `@resilience`,
			want:      schema.Field{Origin: here, Explicit: true},
		},
		{
			behaviour: "the field's directive alone",
			onField:   `@resilience(preset: "carrier", timeout: "1s", idempotent: true)`,
			want: schema.Field{
				Preset: "carrier", PresetOrigin: here, Idempotent: true, Origin: here, Explicit: true,
				Layers: []policy.Layer{{Origin: here, Spec: timeout(time.Second)}},
			},
		},
		{
			behaviour: "the type's directive alone",
			onType:    `@resilience(preset: "carrier", timeout: "1s", idempotent: true)`,
			want: schema.Field{
				Preset: "carrier", PresetOrigin: ofType, Idempotent: true, Origin: ofType,
				Layers: []policy.Layer{{Origin: ofType, Spec: timeout(time.Second)}},
			},
		},
		{
			behaviour: "Go code alone",
			settings:  &schema.Settings{Preset: "carrier", Idempotent: new(true), Spec: retry},
			want: schema.Field{
				Preset: "carrier", PresetOrigin: goSide, Idempotent: true, Origin: goSide, Explicit: true,
				Layers: []policy.Layer{{Origin: goSide, Spec: retry}},
			},
		},
		{
			behaviour: "Go code without a stage makes no layer",
			settings:  &schema.Settings{Preset: "carrier"},
			want:      schema.Field{Preset: "carrier", PresetOrigin: goSide, Origin: goSide, Explicit: true},
		},
		{
			behaviour: "the field's directive goes before the type's",
			onType:    `@resilience(preset: "export", timeout: "9s", idempotent: true)`,
			onField:   `@resilience(preset: "carrier", timeout: "1s", idempotent: false)`,
			want: schema.Field{
				Preset: "carrier", PresetOrigin: here, Origin: here, Explicit: true,
				Layers: []policy.Layer{
					{Origin: here, Spec: timeout(time.Second)},
					{Origin: ofType, Spec: timeout(9 * time.Second)},
				},
			},
		},
		{
			behaviour: "Go code goes before the type's directive, and may give its settings again",
			onType:    `@resilience(preset: "export", timeout: "9s", idempotent: true)`,
			settings:  &schema.Settings{Preset: "carrier", Idempotent: new(false), Spec: timeout(time.Second)},
			want: schema.Field{
				Preset: "carrier", PresetOrigin: goSide, Origin: goSide, Explicit: true,
				Layers: []policy.Layer{
					{Origin: goSide, Spec: timeout(time.Second)},
					{Origin: ofType, Spec: timeout(9 * time.Second)},
				},
			},
		},
		{
			behaviour: "one setting from each",
			onType:    `@resilience(idempotent: true)`,
			onField:   `@resilience(preset: "carrier")`,
			settings:  &schema.Settings{Spec: timeout(time.Second)},
			want: schema.Field{
				Preset: "carrier", PresetOrigin: here, Idempotent: true, Origin: here, Explicit: true,
				Layers: []policy.Layer{{Origin: goSide, Spec: timeout(time.Second)}},
			},
		},
		{
			behaviour: "Go code's layer stands above the directives'",
			onType:    `@resilience(timeout: "off")`,
			onField:   `@resilience(timeout: "default")`,
			settings:  &schema.Settings{Spec: retry},
			want: schema.Field{
				Origin: here, Explicit: true,
				Layers: []policy.Layer{
					{Origin: goSide, Spec: retry}, {Origin: here, Spec: inherited}, {Origin: ofType, Spec: off},
				},
			},
		},
		{
			behaviour: "null inherits",
			onType:    `@resilience(preset: "carrier", timeout: "9s", idempotent: true)`,
			onField:   `@resilience(preset: null, timeout: null, idempotent: null)`,
			want: schema.Field{
				Preset: "carrier", PresetOrigin: ofType, Idempotent: true, Origin: here, Explicit: true,
				Layers: []policy.Layer{{Origin: ofType, Spec: timeout(9 * time.Second)}},
			},
		},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			loaded := load(t, "type Query "+row.onType+" {\n  x: Int "+row.onField+"\n}")
			settings := map[string]schema.Settings{}
			if row.settings != nil {
				row.settings.Origin = goSide
				settings["Query.x"] = *row.settings
			}
			row.want.Object, row.want.Name = "Query", "x"
			row.want.Definition = loaded.Query.Fields[0]

			fields, warnings, err := schema.Walk(loaded, settings)

			require.NoError(t, err)
			assert.Empty(t, warnings)
			assert.Equal(t, []schema.Field{row.want}, fields)
		})
	}
}

func TestWalkMakesALayerOfEveryStageThatGoCodeMentions(t *testing.T) {
	loaded := load(t, `type Query { x: Int }`)
	stages := reflect.TypeFor[policy.Spec]()
	for i := range stages.NumField() {
		t.Run(stages.Field(i).Name, func(t *testing.T) {
			var spec policy.Spec
			reflect.ValueOf(&spec).Elem().Field(i).Set(reflect.New(stages.Field(i).Type.Elem()))

			fields, _, err := schema.Walk(loaded, map[string]schema.Settings{"Query.x": {Spec: spec}})

			require.NoError(t, err)
			require.Len(t, fields, 1)
			assert.Equal(t, []policy.Layer{{Origin: `settings of "Query.x"`, Spec: spec}}, fields[0].Layers)
		})
	}
}

func TestWalkReturnsEveryFieldOfAnAnnotatedTypeSortedByCoordinate(t *testing.T) {
	loaded := load(t, `
type Query @resilience(preset: "carrier") { orders: [Order!] order(id: ID!): Order @resilience(timeout: "1s") }
type Order { quotes: [Int!] @resilience(preset: "carrier") id: ID! weight: Int }
type Mutation { createShipment: Int }`)

	fields, _, err := schema.Walk(loaded, map[string]schema.Settings{"Mutation.createShipment": {Preset: "carrier"}})

	require.NoError(t, err)
	assert.Equal(t, []string{"Mutation.createShipment", "Order.quotes", "Query.order", "Query.orders"}, coordinates(fields))
	assert.Equal(t, []bool{true, true, true, false}, []bool{fields[0].Explicit, fields[1].Explicit, fields[2].Explicit, fields[3].Explicit})
}

func TestWalkNeverReturnsFieldsOfIntrospectionOrFederation(t *testing.T) {
	loaded := loadSources(t,
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "schema.graphqls", Input: `
			schema { query: Root }
			type Root @resilience(preset: "carrier") { order: Order }
			type Order @resilience(preset: "carrier") { _service: Int }`},
		&ast.Source{Name: "federation/entity.graphql", BuiltIn: true, Input: `
			scalar _Any
			union _Entity = Order
			type _Service { sdl: String }
			type Entity { findOrderByID(id: ID!): Order! }
			extend type Root { _entities(representations: [_Any!]!): [_Entity]! _service: _Service! }`},
	)

	fields, _, err := schema.Walk(loaded, map[string]schema.Settings{"Entity.findOrderByID": {Preset: "carrier"}})

	require.NoError(t, err)
	assert.Equal(t, []string{"Entity.findOrderByID", "Order._service", "Root.order"}, coordinates(fields),
		"the names are federation's on the query root alone")
}

func TestWalkReadsTypeExtensionsWhereTheyStand(t *testing.T) {
	loaded := loadSources(t,
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "schema.graphqls", Input: "type Query {\n x: Int @resilience(preset: \"a\") }"},
		&ast.Source{Name: "more.graphqls", Input: "\n\nextend type Query @resilience(timeout: \"1s\") {\n y: Int @resilience(preset: \"b\") }"},
	)

	fields, _, err := schema.Walk(loaded, nil)

	require.NoError(t, err)
	require.Len(t, fields, 2)
	assert.Equal(t, "schema.graphqls:2", fields[0].PresetOrigin)
	assert.Equal(t, "more.graphqls:4", fields[1].PresetOrigin)
	assert.Equal(t, []policy.Layer{{Origin: "more.graphqls:3 (type Query)", Spec: timeout(time.Second)}}, fields[0].Layers,
		"a directive on an extension means the whole type")
}

func TestWalkDoesNotHandDirectivesDownFromOneTypeToAnother(t *testing.T) {
	loaded := load(t, `
interface Node { id: ID! }
type Order implements Node @resilience(preset: "carrier") { id: ID! }
type Shipment implements Node { id: ID! order: Order }
type Query { node: Node }`)

	fields, _, err := schema.Walk(loaded, nil)

	require.NoError(t, err)
	assert.Equal(t, []string{"Order.id"}, coordinates(fields), "neither siblings nor the fields that return the type")
}

func TestWalkFindsNothingInASchemaThatSaysNothing(t *testing.T) {
	loaded := loadSources(t, &ast.Source{Name: "schema.graphqls", Input: `type Query { x: Int }`})

	fields, warnings, err := schema.Walk(loaded, nil)

	require.NoError(t, err)
	assert.Empty(t, fields)
	assert.Empty(t, warnings)
}

func TestWalkNeedsNoDeclarationForFieldsThatGoCodeConfigures(t *testing.T) {
	loaded := loadSources(t, &ast.Source{Name: "schema.graphqls", Input: `type Query { x: Int }`})

	fields, _, err := schema.Walk(loaded, map[string]schema.Settings{"Query.x": {Preset: "carrier"}})

	require.NoError(t, err)
	assert.Equal(t, []string{"Query.x"}, coordinates(fields))
}

func TestWalkWarnsOfAnIdempotentMutationType(t *testing.T) {
	for _, row := range []struct {
		behaviour string
		sdl       string
		want      string
	}{
		{"true on the mutation root", `type Mutation @resilience(idempotent: true) { x: Int }`,
			"schema.graphqls:2: type Mutation: @resilience(idempotent: true) lets every mutation be retried"},
		{"true on a renamed mutation root", `type M @resilience(idempotent: true) { x: Int } schema { query: Query mutation: M }`,
			"schema.graphqls:2: type M: @resilience(idempotent: true) lets every mutation be retried"},
		{"false on the mutation root", `type Mutation @resilience(idempotent: false) { x: Int }`, ""},
		{"true on one mutation", `type Mutation { x: Int @resilience(idempotent: true) }`, ""},
		{"true on another type", `type Order @resilience(idempotent: true) { x: Int }`, ""},
		{"a type that is no root here", `type Mutation @resilience(idempotent: true) { x: Int } schema { query: Query }`, ""},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			_, warnings, err := schema.Walk(load(t, "type Query { q: Int }\n"+row.sdl), nil)

			require.NoError(t, err)
			if row.want == "" {
				assert.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			assert.Contains(t, warnings[0], row.want)
		})
	}
}
