package extension_test

import (
	"fmt"
	"log"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// What one annotation comes to with its preset. A running server's plan is ext.Plan(), after Use.
func ExamplePlan() {
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"carrier": {
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)},
			Retry:   &policy.RetrySpec{Attempts: new(2)},
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	loaded := gqlparser.MustLoadSchema(
		&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "schema.graphqls", Input: `
			type Query {
				quotes: [Int!] @resilience(preset: "carrier", timeout: "1.5s")
			}`},
	)

	plan, _, err := extension.New(registry).PlanSchema(loaded)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(plan)
	// Output:
	// FIELD         POLICY   TIMEOUT        ATTEMPTS  FALLBACK  WORST CASE
	// Query.quotes  carrier  1.5s Enforced  2         -         3.22s (33.01s)
	//
	// Worst case in brackets: where the dependency asks for longer waits, by Retry-After.
	//
	// Policy carrier
	//   timeout.duration  1.5s  schema.graphqls:3
	//   retry.attempts    2     preset "carrier"
	//   Query.quotes, by schema.graphqls:3
}
