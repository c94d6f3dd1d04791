package schema_test

import (
	"fmt"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

func ExampleWalk() {
	loaded := gqlparser.MustLoadSchema(
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "schema.graphqls", Input: `
			type Query {
				shippingQuotes: [Int!] @resilience(preset: "carrier", timeout: "1.5s")
				order: Int
			}`},
	)
	settings := map[string]schema.Settings{
		"Query.order": {
			Spec:   policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(3 * time.Second)}},
			Origin: `WithField("Query.order")`,
		},
	}

	fields, _, err := schema.Walk(loaded, settings)
	if err != nil {
		panic(err)
	}
	for _, field := range fields {
		fmt.Printf("%s: preset %q\n", field.Coordinate(), field.Preset)
		for _, layer := range field.Layers {
			fmt.Printf("  timeout %v by %s\n", *layer.Spec.Timeout.Duration, layer.Origin)
		}
	}
	// Output:
	// Query.order: preset ""
	//   timeout 3s by WithField("Query.order")
	// Query.shippingQuotes: preset "carrier"
	//   timeout 1.5s by schema.graphqls:3
}

func ExampleWalk_mistakes() {
	loaded := gqlparser.MustLoadSchema(
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "schema.graphqls", Input: `
			type Query {
				order: Int @resilience(timeout: "0s")
			}`},
	)

	_, _, err := schema.Walk(loaded, map[string]schema.Settings{
		"Query.oder": {Preset: "carrier", Origin: `WithField("Query.oder")`},
	})
	fmt.Println(err)
	// Output:
	// schema.graphqls:3: Query.order: @resilience(timeout: "0s"): zero: must be a positive duration such as "1.5s" or "200ms", or "off", or "default"
	// WithField("Query.oder"): type Query has no field oder, did you mean "Query.order"?
}

func ExampleField_Coordinate() {
	fmt.Println(schema.Field{Object: "Query", Name: "shippingQuotes"}.Coordinate())
	// Output: Query.shippingQuotes
}

// What becomes null when a field that must not be null fails.
func ExampleNewAncestry() {
	loaded := gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphqls", Input: `
		type Query {
			order: Order
			orders: [Order]
			latest: Order!
		}
		type Order {
			quotes: [Int!]!
			note: String
		}`})
	order := loaded.Types["Order"]
	ancestry := schema.NewAncestry(loaded)

	for _, definition := range order.Fields {
		field := schema.Field{Object: order.Name, Name: definition.Name, Definition: definition}
		fmt.Println(field.Coordinate(), ancestry.Nullable(field))
	}
	// Output:
	// Order.quotes [the whole response Query.order an item of Query.orders]
	// Order.note []
}
