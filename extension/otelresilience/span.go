package otelresilience

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// annotate tells the span in the context, if there is one that is recorded. It is the caller's: what
// its status says is not decided here, for a fallback may have answered.
func annotate(ctx context.Context, e policy.Event) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	switch e.Kind {
	case policy.EventCall:
		span.SetAttributes(attemptCountKey.Int(e.Attempt))
	case policy.EventRetry:
		happened(span, e, "gqlresilience.retry", attemptNumberKey.Int(e.Attempt),
			retryDelayKey.Float64(e.Delay.Seconds()), errorTypeKey.String(label.ErrorType(e.Err)))
	case policy.EventTimeout:
		details := []attribute.KeyValue{attemptNumberKey.Int(e.Attempt), reasonKey.String(timeout(e))}
		if e.Timeout > 0 {
			details = append(details, timeoutLimitKey.Float64(e.Timeout.Seconds()))
		}
		happened(span, e, "gqlresilience.timeout", details...)
	case policy.EventCircuitRejected, policy.EventBulkheadRejected, policy.EventRateLimited:
		happened(span, e, "gqlresilience.rejection", attemptNumberKey.Int(e.Attempt), reasonKey.String(rejection(e)))
	case policy.EventFallback:
		happened(span, e, "gqlresilience.fallback", outcomeKey.String(fallback(e)), errorTypeKey.String(label.ErrorType(e.Err)))
	}
}

// happened adds an event to the span. Several fields may share one, so it says which it is of.
func happened(span trace.Span, e policy.Event, name string, details ...attribute.KeyValue) {
	all := append(identity(label.Printable(e.Policy), label.Printable(e.Source)), details...)
	span.AddEvent(name, trace.WithTimestamp(e.Time), trace.WithAttributes(all...))
}
