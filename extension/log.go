package extension

import (
	"context"
	"log/slog"

	"github.com/gqlresilience/gqlresilience/policy"
)

// logTo returns a subscriber that logs the events an operator wants to read.
func logTo(logger *slog.Logger) func(context.Context, policy.Event) {
	return func(ctx context.Context, e policy.Event) {
		who := []slog.Attr{slog.String("field", e.Source), slog.String("policy", e.Policy)}
		switch e.Kind {
		case policy.EventCircuitOpen, policy.EventCircuitHalfOpen, policy.EventCircuitClosed:
			logger.LogAttrs(ctx, slog.LevelWarn, "circuit breaker "+e.To.String(), append(who,
				slog.String("breaker", e.Gate), slog.String("from", e.From.String()), slog.String("reason", e.Reason))...)
		case policy.EventFallback:
			level, message := slog.LevelInfo, "answering with the fallback"
			if e.Reason != "" {
				level, message = slog.LevelWarn, "the fallback failed"
			}
			logger.LogAttrs(ctx, level, message, append(who, slog.Any("error", e.Err))...)
		case policy.EventAbandoned:
			logger.LogAttrs(ctx, slog.LevelInfo, "abandoned an attempt that ignores its context", append(who,
				slog.Int("attempt", e.Attempt), slog.Int("running", e.Running))...)
		case policy.EventRetry:
			logger.LogAttrs(ctx, slog.LevelDebug, "retrying", append(who,
				slog.Int("attempt", e.Attempt), slog.Duration("delay", e.Delay), slog.Any("error", e.Err))...)
		case policy.EventTimeout, policy.EventCircuitRejected, policy.EventBulkheadRejected, policy.EventRateLimited:
			logger.LogAttrs(ctx, slog.LevelDebug, string(e.Kind), append(who,
				slog.Int("attempt", e.Attempt), slog.Any("error", e.Err))...)
		}
	}
}
