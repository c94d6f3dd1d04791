package main

import (
	"log/slog"
	"time"

	"github.com/99designs/gqlgen/graphql/handler"
	gqlgenextension "github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/example/graph"
	"github.com/gqlresilience/gqlresilience/example/store"
	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

// shop is the store with its policies, its GraphQL server and its background job, yet to be
// served.
type shop struct {
	store      *store.Store
	registry   *policy.Registry
	telemetry  *telemetry
	resilience *extension.Extension
	dashboard  *dashboard.Dashboard
	graphQL    *handler.Server
	repricer   *repricer
}

func newShop(options options, client *carrier.Client, logger *slog.Logger) (*shop, error) {
	registry, err := policy.NewRegistry(policies(options.openDuration))
	if err != nil {
		return nil, err
	}
	carrierPolicy, err := registry.Preset("carrier")
	if err != nil {
		return nil, err
	}
	telemetry, err := newTelemetry(registry, options.traces)
	if err != nil {
		return nil, err
	}
	orders := store.New(options.exportDuration)
	resilience := extension.New(registry,
		extension.WithLogger(logger),
		extension.Strict(),
		extension.WithOperationBudget(budget()),
		extension.WithFallback("Query.shippingQuotes", flatRate, extension.When(policy.ErrCircuitOpen)),
		extension.WithStale("Order.quotes", recentQuotes(), extension.When(policy.ErrCircuitOpen)),
	)
	page, err := dashboard.New(registry, dashboard.WithPlan(resilience.Plan), dashboard.WithLogger(logger))
	if err != nil {
		return nil, err
	}
	return &shop{
		store:      orders,
		registry:   registry,
		telemetry:  telemetry,
		resilience: resilience,
		dashboard:  page,
		graphQL:    newGraphQL(&graph.Resolver{Store: orders, Carrier: client}, telemetry, resilience, logger),
		repricer: &repricer{
			policy:  carrierPolicy.WithSource("Repricer.run"),
			carrier: client,
			store:   orders,
			logger:  logger,
		},
	}, nil
}

func newGraphQL(resolvers *graph.Resolver, telemetry *telemetry, resilience *extension.Extension, logger *slog.Logger) *handler.Server {
	server := handler.New(graph.NewExecutableSchema(graph.Config{Resolvers: graph.Guard(resolvers)}))
	server.AddTransport(transport.Websocket{KeepAlivePingInterval: 10 * time.Second, PingPongInterval: 30 * time.Second})
	server.AddTransport(transport.SSE{KeepAlivePingInterval: 10 * time.Second})
	server.AddTransport(transport.Options{})
	server.AddTransport(transport.GET{})
	server.AddTransport(transport.POST{})
	server.SetQueryCache(lru.New[*ast.QueryDocument](1000))
	server.Use(gqlgenextension.Introspection{})
	server.Use(tracing{telemetry.tracers.Tracer("example")})
	server.SetErrorPresenter(gqlerrors.Presenter(graph.PresentError, gqlerrors.MaskUnknown(logger)))
	// Last, so that the extensions above see a field once, however many attempts it takes.
	server.Use(resilience)
	return server
}
