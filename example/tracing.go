package main

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// tracing is a gqlgen extension that makes a span of each response, and of each of its fields that
// has a resolver. What a field's policy does is told on the field's span.
type tracing struct{ tracer trace.Tracer }

func (tracing) ExtensionName() string { return "Tracing" }

func (tracing) Validate(graphql.ExecutableSchema) error { return nil }

func (t tracing) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	operation := graphql.GetOperationContext(ctx).Operation
	if operation == nil {
		return next(ctx)
	}
	ctx, span := t.tracer.Start(ctx, string(operation.Operation), trace.WithSpanKind(trace.SpanKindServer))
	span.SetAttributes(attribute.String("graphql.operation.type", string(operation.Operation)))
	if operation.Name != "" {
		span.SetAttributes(attribute.String("graphql.operation.name", operation.Name))
	}
	defer span.End()
	return next(ctx)
}

func (t tracing) InterceptField(ctx context.Context, next graphql.Resolver) (any, error) {
	field := graphql.GetFieldContext(ctx)
	if !field.IsMethod {
		return next(ctx)
	}
	ctx, span := t.tracer.Start(ctx, field.Object+"."+field.Field.Name)
	defer span.End()
	value, err := next(ctx)
	if err != nil {
		span.SetStatus(codes.Error, "") // and none of its text, which is not for everybody who reads traces
	}
	return value, err
}
