package main

import (
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// A hook is how a policy comes to run around a resolver.
type hook string

const (
	middleware hook = "middleware"
	guard      hook = "guard"
)

// server is a gqlgen server as far as it costs something here: without HTTP.
type server struct {
	executor  *executor.Executor
	resolvers graph.ResolverRoot // as gqlgen calls them: guarded, or not
	intercept graphql.FieldMiddleware
}

// newServer returns a server without any extension.
func newServer(resolver *graph.Resolver) *server {
	return serve(resolver, func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) })
}

func serve(resolvers graph.ResolverRoot, intercept graphql.FieldMiddleware) *server {
	s := &server{
		executor:  executor.New(graph.NewExecutableSchema(graph.Config{Resolvers: resolvers})),
		resolvers: resolvers,
		intercept: intercept,
	}
	s.executor.SetQueryCache(graphql.MapCache[*ast.QueryDocument]{})
	return s
}

// newIntercepted returns a server whose only extension is a field interceptor that does nothing.
func newIntercepted(resolver *graph.Resolver) *server {
	s := newServer(resolver)
	s.executor.AroundFields(s.intercept)
	return s
}

// newAround returns a server whose only extension makes calls of resolvers in that way. The resolvers
// get the field's context: an attempt's would end with the attempt, and gqlgen makes it that of the
// field's children.
func newAround(resolver *graph.Resolver, call caller) *server {
	s := newServer(resolver)
	s.executor.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		if !graphql.GetFieldContext(ctx).IsResolver {
			return next(ctx)
		}
		return call(ctx, func(context.Context) (any, error) { return next(ctx) })
	})
	return s
}

// newProtected returns a server whose guarded field runs under a policy of the spec, and the
// registry that has it, beside other presets.
func newProtected(
	resolver *graph.Resolver, by hook, spec policy.Spec, others int, options ...extension.Option,
) (*server, *policy.Registry, error) {
	registry, err := newRegistry(spec, others)
	if err != nil {
		return nil, nil, err
	}
	var resolvers graph.ResolverRoot = resolver
	if by == guard {
		resolvers = graph.Guard(resolver)
	}
	resilience := extension.New(registry, options...)
	s := serve(resolvers, resilience.InterceptField)
	s.executor.Use(resilience)
	return s, registry, nil
}

// answer runs the query and returns the response as gqlgen's transports write it.
func (s *server) answer(ctx context.Context, query string) ([]byte, error) {
	ctx = graphql.StartOperationTrace(ctx)
	operation, mistakes := s.executor.CreateOperationContext(ctx, &graphql.RawParams{
		Query:    query,
		ReadTime: graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()},
	})
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	responses, ctx := s.executor.DispatchOperation(ctx, operation)
	response := responses(ctx)
	if len(response.Errors) > 0 {
		return nil, response.Errors
	}
	return json.Marshal(response)
}
