package extension_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// What gqlgen v0.17.98 generates as DirectiveRoot for schema.SDL without skip_runtime.
var _ = struct {
	Resilience func(ctx context.Context, obj any, next graphql.Resolver, preset *string, timeout *string, idempotent *bool) (res any, err error)
}{
	Resilience: extension.Directive,
}

func TestTheRuntimeDirectiveOnlyCallsTheResolver(t *testing.T) {
	down := errors.New("down")
	ctx := t.Context()
	value, err := extension.Directive(ctx, nil, func(got context.Context) (any, error) {
		require.Equal(t, ctx, got)
		return 7, down
	}, new("carrier"), new("1ns"), new(true))
	require.Equal(t, 7, value)
	require.Equal(t, down, err)
}

func TestTheExtensionIsNamed(t *testing.T) {
	require.Equal(t, "Resilience", extension.New(newRegistry(t, nil)).ExtensionName())
}

// timeouts counts, by field, the attempts whose time was up.
func timeouts(registry *policy.Registry) (sources func() map[string]int) {
	seen := map[string]int{}
	registry.Subscribe(func(_ context.Context, e policy.Event) {
		if e.Kind == policy.EventTimeout {
			seen[e.Source]++
		}
	})
	return func() map[string]int { return seen }
}

func TestATypesAnnotationConcernsResolversAndMethodsAlone(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Guarded = func(context.Context) (*model.Guarded, error) {
			return &model.Guarded{Plain: "plain", ComputeFunc: hanging}, nil
		}
		stub.GuardedResolver.Resolved = func(ctx context.Context, _ *model.Guarded) (*string, error) { return nil, untilCancelled(ctx) }
		registry := newRegistry(t, nil)
		server := h.protect(stub, registry)
		began := time.Now()
		response := testgraph.Post(t.Context(), t, server, `{ guarded { resolved computed plain __typename } }`)
		require.Equal(t, map[string]any{"resolved": nil, "computed": nil, "plain": "plain", "__typename": "Guarded"}, response.Data["guarded"])
		require.Len(t, response.Errors, 2)
		require.Equal(t, time.Second, time.Since(began), "the type's timeout, side by side")
	})
}

func TestAPlainFieldPassesNoPolicyEvenWithAnAnnotationOfItsOwn(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Guarded = func(context.Context) (*model.Guarded, error) { return &model.Guarded{Plain: "plain"}, nil }
		stub.QueryResolver.Settings = func(context.Context) (*model.Settings, error) { return &model.Settings{Theme: "dark"}, nil }
		registry := newRegistry(t, presets{"limited": {RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)}}})
		server := h.protect(stub, registry, underPreset("Guarded.plain", "limited"), underPreset("Settings.theme", "limited"))
		for range 3 {
			require.Equal(t, `{"data":{"guarded":{"plain":"plain"},"settings":{"theme":"dark"}}}`,
				rawPost(t.Context(), t, server, `{ guarded { plain } settings { theme } }`))
		}
	})
}

func TestAFieldIsFoundHoweverItIsSelected(t *testing.T) {
	for name, row := range map[string]struct {
		query, path string
	}{
		"by name":                    {`{ item(id: 1) { slow } }`, "item.slow"},
		"by alias":                   {`{ a: item(id: 1) { b: slow } }`, "a.b"},
		"through an interface":       {`{ node(id: 1) { slow } }`, "node.slow"},
		"on an object of it":         {`{ node(id: 1) { ... on Item { slow } } }`, "node.slow"},
		"in a union":                 {`{ found { ... on Item { slow } } }`, "found.slow"},
		"in a fragment":              {`{ ...all } fragment all on Query { item(id: 1) { ...more } } fragment more on Node { slow }`, "item.slow"},
		"in an inline fragment":      {`{ ... { item(id: 1) { ... on Node { slow } } } }`, "item.slow"},
		"with @include":              {`{ item(id: 1) { slow @include(if: true) } }`, "item.slow"},
		"with @skip":                 {`{ item(id: 1) { ... @skip(if: false) { slow } } }`, "item.slow"},
		"after __typename":           {`{ __typename item(id: 1) { __typename slow } }`, "item.slow"},
		"selected twice, merged":     {`{ item(id: 1) { slow } ... { item(id: 1) { slow } } }`, "item.slow"},
		"in one of two operations":   {`query A { item(id: 1) { slow } }`, "item.slow"},
		"below a mutation's payload": {`mutation { create(name: "a") { slow } }`, "create.slow"},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				item := &model.Item{ID: "1"}
				stub := &testgraph.Stub{}
				stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return item, nil }
				stub.QueryResolver.Node = func(context.Context, string) (model.Node, error) { return item, nil }
				stub.QueryResolver.Found = func(context.Context) (model.Found, error) { return item, nil }
				stub.MutationResolver.Create = func(context.Context, string) (*model.Item, error) { return item, nil }
				stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { return nil, untilCancelled(ctx) }
				registry := newRegistry(t, nil)
				sources := timeouts(registry)
				server := h.protect(stub, registry, underPreset("Item.slow", "dependency"))
				response := testgraph.Post(t.Context(), t, server, row.query)
				require.Len(t, response.Errors, 1)
				require.Equal(t, row.path, response.Errors[0].Path.String())
				require.Equal(t, map[string]int{"Item.slow": 1}, sources())
			})
		})
	}
}

func TestASkippedFieldPassesNoPolicy(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return &model.Item{ID: "1"}, nil }
		registry := newRegistry(t, presets{"counted": {CircuitBreaker: &policy.CircuitBreakerSpec{}}})
		server := h.protect(stub, registry, underPreset("Item.slow", "counted"))
		require.Equal(t, `{"data":{"item":{"id":"1"}}}`, rawPost(t.Context(), t, server, `{ item(id: 1) { id slow @skip(if: true) ... @include(if: false) { slow } } }`))
		breaker, _ := registry.CircuitBreaker("counted")
		require.Zero(t, breaker.Stats().Calls)
	})
}

func TestAnotherObjectOfTheInterfaceHasItsOwnPolicyOrNone(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Nodes = func(context.Context) ([]model.Node, error) {
			return []model.Node{&model.Item{ID: "1"}, &model.Other{ID: "2"}}, nil
		}
		slow := func(context.Context) (*string, error) { time.Sleep(3 * time.Second); return new("slow"), nil }
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { return slow(ctx) }
		stub.OtherResolver.Slow = func(ctx context.Context, _ *model.Other) (*string, error) { return slow(ctx) }
		server := h.protect(stub, newRegistry(t, nil), underPreset("Item.slow", "dependency"))
		require.Equal(t, `{"errors":[{"message":"The operation timed out","path":["nodes",0,"slow"],"locations":[{"line":1,"column":11}],`+
			`"extensions":{"code":"TIMEOUT","httpStatus":504}}],"data":{"nodes":[{"slow":null},{"slow":"slow"}]}}`,
			rawPost(t.Context(), t, server, `{ nodes { slow } }`))
		time.Sleep(time.Second) // the abandoned one ends
	})
}

func TestIntrospectionPassesNoPolicy(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(answering("up"))
		variant := variantOf(t, testgraph.NewSchema(stub).Schema(), "type Query {", `type Query @resilience(preset: "limited") {`)
		server := testgraph.Serve(h.withSchema(stub, variant))
		registry := newRegistry(t, presets{"limited": {RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)}}})
		server.Use(extension.New(registry))
		for range 3 {
			response := testgraph.Post(t.Context(), t, server, `{ __typename __schema { queryType { name } } __type(name: "Item") { fields { name } } }`)
			require.Empty(t, response.Errors)
			require.Equal(t, "Query", response.Data["__typename"])
		}
		require.Equal(t, "up", testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"], "the token is still there")
		require.Len(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors, 1)
	})
}

func TestFederationsFieldsPassNoPolicy(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &federated.Stub{}
		stub.EntityResolver.FindProductByID = func(_ context.Context, id string) (*model.Product, error) { return &model.Product{ID: id}, nil }
		stub.QueryResolver.Cheapest = func(context.Context) (*model.Product, error) { return &model.Product{ID: "1"}, nil }
		config := federated.Config{Resolvers: stub, Schema: annotateQuery(t, h.federatedSchema(stub).Schema(), "limited")}
		if h.guarded {
			config.Resolvers = federated.Guard(stub)
		}
		server := testgraph.Serve(federated.NewExecutableSchema(config))
		registry, err := policy.NewRegistry(policy.Config{Presets: presets{"limited": {
			RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)},
		}}})
		require.NoError(t, err)
		server.Use(extension.New(registry))
		for range 3 {
			response := testgraph.Post(t.Context(), t, server, `{ _service { sdl } _entities(representations: [{__typename: "Product", id: "7"}]) { ... on Product { id } } }`)
			require.Empty(t, response.Errors)
			require.Equal(t, []any{map[string]any{"id": "7"}}, response.Data["_entities"])
		}
		require.Empty(t, testgraph.Post(t.Context(), t, server, `{ cheapest { id } }`).Errors)
		require.Equal(t, "RATE_LIMITED", testgraph.Post(t.Context(), t, server, `{ cheapest { id } }`).Errors[0].Extensions["code"])
	})
}

// annotateQuery returns the schema with @resilience on its query type, which it does not declare.
func annotateQuery(t testing.TB, s *ast.Schema, preset string) *ast.Schema {
	t.Helper()
	annotated := *s
	query := *s.Query
	query.Directives = append(query.Directives[:len(query.Directives):len(query.Directives)], &ast.Directive{
		Name: "resilience", Position: query.Position,
		Arguments: ast.ArgumentList{{Name: "preset", Value: &ast.Value{Kind: ast.StringValue, Raw: preset}}},
	})
	annotated.Query, annotated.Types = &query, map[string]*ast.Definition{}
	for name, definition := range s.Types {
		annotated.Types[name] = definition
	}
	annotated.Types[query.Name] = &query
	return &annotated
}

func TestWhatGoSaysComesBeforeWhatTheTypeSays(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Guarded = func(context.Context) (*model.Guarded, error) { return &model.Guarded{}, nil }
		stub.GuardedResolver.Resolved = func(ctx context.Context, _ *model.Guarded) (*string, error) { return nil, untilCancelled(ctx) }
		for _, timeout := range []time.Duration{time.Second, 3 * time.Second} {
			server := h.protect(stub, newRegistry(t, nil), extension.WithField("Guarded.resolved", extension.Field{
				Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: &timeout}},
			}))
			began := time.Now()
			require.Len(t, testgraph.Post(t.Context(), t, server, `{ guarded { resolved } }`).Errors, 1)
			require.Equal(t, timeout, time.Since(began))
		}
	})
}

func TestAnAnnotatedFieldTakesItsFallbackFromGo(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Timed = hanging
		began := time.Now()
		server := h.protect(stub, newRegistry(t, nil), extension.WithFallback("Query.timed", func(_ context.Context, err error) (*string, error) {
			return new(fmt.Sprint(errors.Is(err, policy.ErrTimeout))), nil
		}), extension.WithoutDegraded())
		require.Equal(t, `{"data":{"timed":"true"}}`, rawPost(t.Context(), t, server, `{ timed }`))
		require.Equal(t, 500*time.Millisecond, time.Since(began))
	})
}
