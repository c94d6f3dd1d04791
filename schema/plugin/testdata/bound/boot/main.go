// Command boot prints which fields an extension takes to pass a policy and which for plain data,
// without and with guards.
package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/policy"

	"example.com/app/bound/graph"
)

// resolvers are none that a boot calls.
type resolvers struct{ graph.ResolverRoot }

func main() {
	for _, root := range []graph.ResolverRoot{resolvers{}, graph.Guard(resolvers{})} {
		registry, err := policy.NewRegistry(policy.Config{})
		if err != nil {
			panic(err)
		}
		e := extension.New(registry, extension.WithLogger(slog.New(slog.DiscardHandler)),
			extension.WithField("OrderList.total", extension.Field{}), extension.WithField("Order.id", extension.Field{}))
		if err := e.Validate(graph.NewExecutableSchema(graph.Config{Resolvers: root})); err != nil {
			panic(err)
		}
		for _, field := range e.Plan().Fields {
			fmt.Println(field.Coordinate)
		}
		fmt.Println("|")
		for _, warning := range e.Warnings() {
			if about, _, ok := strings.Cut(warning, ": all fields are plain data"); ok {
				fmt.Println(about)
			}
			if about, _, ok := strings.Cut(warning, ": plain data"); ok {
				fmt.Println(about)
			}
		}
		fmt.Println("|")
	}
}
