// Package plugin generates guards with gqlgen: a func Guard beside the generated server, which
// runs the annotated resolvers under their policies.
//
//	err := api.Generate(cfg, api.AddPlugin(plugin.New(cfg)))
//	…
//	graph.NewExecutableSchema(graph.Config{Resolvers: graph.Guard(resolvers)})
//
// A policy then sits right around the resolver, inside all of gqlgen:
//
//	field middleware → schema directives → guard (policy → each attempt) → resolver
//
// The command cmd/gqlgen-resilience is gqlgen's generate with this plugin. A server does not
// import this package: it would bring gqlgen's code generation with it.
package plugin
