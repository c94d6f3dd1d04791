package extension_test

import (
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/policy"
)

// hook is a mode of hooking in: policies run in the field middleware, or in guards around all
// resolvers.
type hook struct{ guarded bool }

// hooks are the modes of hooking in, by name.
var hooks = map[string]hook{"middleware": {}, "guard": {guarded: true}}

// underEachHook runs a test once per mode of hooking in, in a bubble. Where the modes differ by
// design, which docs/guards.md lists, the test asks h.guarded.
func underEachHook(t *testing.T, test func(t *testing.T, h hook)) {
	t.Helper()
	for name, h := range hooks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, h) })
		})
	}
}

// schema returns the schema resolved by stub.
func (h hook) schema(stub *testgraph.Stub) graphql.ExecutableSchema {
	if h.guarded {
		return testgraph.NewGuardedSchema(stub)
	}
	return testgraph.NewSchema(stub)
}

// noPanicSchema returns the schema generated with omit_panic_handler.
func (h hook) noPanicSchema(stub *testgraph.Stub) graphql.ExecutableSchema {
	if h.guarded {
		return testgraph.NewGuardedNoPanicSchema(stub)
	}
	return testgraph.NewNoPanicSchema(stub)
}

// federatedSchema returns the federated schema.
func (h hook) federatedSchema(stub *federated.Stub) graphql.ExecutableSchema {
	if h.guarded {
		return testgraph.NewGuardedFederatedSchema(stub)
	}
	return testgraph.NewFederatedSchema(stub)
}

// server returns a server whose resolvers are stub's, yet without an extension.
func (h hook) server(stub *testgraph.Stub) *handler.Server { return testgraph.Serve(h.schema(stub)) }

// protect returns a server whose resolvers are stub's, with an extension in use.
func (h hook) protect(stub *testgraph.Stub, registry *policy.Registry, options ...extension.Option) *handler.Server {
	server := h.server(stub)
	server.Use(extension.New(registry, options...))
	return server
}
