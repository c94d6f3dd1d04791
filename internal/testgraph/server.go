package testgraph

import (
	"context"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/transport"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/nopanic"
)

// NewSchema returns the schema resolved by stub. A missing stub.HasRole lets
// everybody pass.
func NewSchema(stub *Stub) graphql.ExecutableSchema { return newSchema(stub, stub) }

// NewGuardedSchema is NewSchema with a guard around each resolver.
func NewGuardedSchema(stub *Stub) graphql.ExecutableSchema { return newSchema(stub, Guard(stub)) }

func newSchema(stub *Stub, resolvers ResolverRoot) graphql.ExecutableSchema {
	config := Config{Resolvers: resolvers}
	config.Directives.HasRole = stub.hasRole
	return NewExecutableSchema(config)
}

// NewNoPanicSchema returns the schema generated with omit_panic_handler,
// resolved by stub.
func NewNoPanicSchema(stub *Stub) graphql.ExecutableSchema {
	return newNoPanicSchema(stub, (*nopanic.Stub)(stub))
}

// NewGuardedNoPanicSchema is NewNoPanicSchema with a guard around each resolver.
func NewGuardedNoPanicSchema(stub *Stub) graphql.ExecutableSchema {
	return newNoPanicSchema(stub, nopanic.Guard((*nopanic.Stub)(stub)))
}

func newNoPanicSchema(stub *Stub, resolvers nopanic.ResolverRoot) graphql.ExecutableSchema {
	config := nopanic.Config{Resolvers: resolvers}
	config.Directives.HasRole = stub.hasRole
	return nopanic.NewExecutableSchema(config)
}

// NewFederatedSchema returns the federated schema resolved by stub.
func NewFederatedSchema(stub *federated.Stub) graphql.ExecutableSchema {
	return federated.NewExecutableSchema(federated.Config{Resolvers: stub})
}

// NewGuardedFederatedSchema is NewFederatedSchema with a guard around each resolver.
func NewGuardedFederatedSchema(stub *federated.Stub) graphql.ExecutableSchema {
	return federated.NewExecutableSchema(federated.Config{Resolvers: federated.Guard(stub)})
}

func (s *Stub) hasRole(ctx context.Context, obj any, next graphql.Resolver, role string) (any, error) {
	if s.HasRole == nil {
		return next(ctx)
	}
	return s.HasRole(ctx, obj, next, role)
}

// NewServer is Serve for the schema resolved by stub.
func NewServer(stub *Stub) *handler.Server { return Serve(NewSchema(stub)) }

// Serve returns a server for schema with introspection and these transports:
// WebSocket, SSE, multipart/mixed, GET, POST. It reports a recovered panic to
// the client as "panic: …" instead of printing a stack.
func Serve(schema graphql.ExecutableSchema) *handler.Server {
	server := handler.New(schema)
	server.AddTransport(transport.Websocket{})
	server.AddTransport(transport.SSE{})
	server.AddTransport(transport.MultipartMixed{})
	server.AddTransport(transport.GET{})
	server.AddTransport(transport.POST{})
	server.Use(extension.Introspection{})
	server.SetRecoverFunc(func(_ context.Context, recovered any) error {
		return fmt.Errorf("panic: %v", recovered)
	})
	return server
}
