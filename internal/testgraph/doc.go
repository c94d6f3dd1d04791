// Package testgraph is a GraphQL server for tests: a schema with one field of
// every kind that gqlgen treats differently, the code gqlgen generates for it,
// and a Stub whose resolvers each test plugs in:
//
//	stub := &testgraph.Stub{}
//	stub.QueryResolver.Text = func(context.Context) (*string, error) { return new("hello"), nil }
//	response := testgraph.Post(t.Context(), t, testgraph.NewServer(stub), `{ text }`)
//
// Nothing here opens a socket or sleeps, so all of it works in a synctest bubble.
//
// Each has guards around all of its resolvers, which NewGuardedSchema puts in place.
//
// Package nopanic is the same schema generated with omit_panic_handler and, for lists,
// with a worker_limit of 2;
// package federated has what only a federated schema has.
package testgraph

//go:generate go run ./generate
