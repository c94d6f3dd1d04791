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

func ExampleLocation() {
	fmt.Println(directive.Location(&ast.Position{Line: 12, Src: &ast.Source{Name: "schema.graphqls"}}))
	// Output: schema.graphqls:12
}
