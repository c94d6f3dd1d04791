package directive_test

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/gqlresilience/gqlresilience/directive"
)

func ExampleParse() {
	document, err := parser.ParseSchema(&ast.Source{Name: "schema.graphqls", Input: `
		type Query {
			shippingQuotes(orderId: ID!): [String!] @resilience(preset: "carrier", timeout: "1.5s")
		}`})
	if err != nil {
		panic(err)
	}
	quotes := document.Definitions[0].Fields.ForName("shippingQuotes")

	parsed, err := directive.Parse(quotes.Directives.ForName(directive.Name))
	if err != nil {
		panic(err)
	}
	fmt.Println(directive.Location(parsed.Position))
	fmt.Println(*parsed.Preset, *parsed.Timeout.Duration, parsed.Idempotent == nil)
	// Output:
	// schema.graphqls:3
	// carrier 1.5s true
}

func ExampleParseDuration() {
	fmt.Println(directive.ParseDuration("1m30s"))
	fmt.Println(directive.ParseDuration("5"))
	// Output:
	// 1m30s <nil>
	// 0s "5": the unit is missing: must be a positive duration such as "1.5s" or "200ms"
}

func ExampleLocation() {
	fmt.Println(directive.Location(&ast.Position{Line: 12, Src: &ast.Source{Name: "schema.graphqls"}}))
	// Output: schema.graphqls:12
}
