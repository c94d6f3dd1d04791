package plugin_test

import (
	"log"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"

	"github.com/gqlresilience/gqlresilience/schema/plugin"
)

// A generator of one's own, in place of "go tool gqlgen-resilience". Query.search has no
// annotation, and is given its policy by the server's code.
func ExampleNew() {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		log.Fatal(err)
	}
	guards := plugin.New(cfg, plugin.GuardFields("Query.search"))
	if err := api.Generate(cfg, api.AddPlugin(guards)); err != nil {
		log.Fatal(err)
	}
}
