package gqlerrors

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/errtree"
	"github.com/gqlresilience/gqlresilience/policy"
)

const internalMessage = "Internal server error"

// MaskUnknown hides errors that are not meant for clients. They become "Internal server error"
// with [CodeInternal], status 500 and an "instance": a random id that is in the log line too,
// beside the field's coordinate, path and the error's whole text. A nil logger is
// [slog.Default]. The level is Error; for what follows from the client having gone away, Debug.
//
// Meant for clients, and let through, are
//   - the errors of policies, as [Convert] makes them;
//   - GraphQL errors with a code;
//   - GraphQL errors with a message of their own, as gqlerror.Errorf makes them. One that only
//     repeats the text of what it wraps, or the message of a GraphQL error below, as gqlgen
//     makes of every plain error and gqlerror.Wrap of any, is taken for what it wraps. So is
//     one of an error that never says the same twice; but a text that changes later, such as
//     one with the time in minutes, would pass for a message of its own;
//   - what [policy.AsClientError] marks: its text, and not that of what wraps it;
//   - what gqlgen says about a request: syntax, validation, variables, limits, null for what
//     must not be null, disabled introspection, and what is wrong with an argument. That is
//     what scalars and the directives of arguments and input fields say, too.
//
// Everything else is hidden: a dependency's status, a canceled context, what a custom recover
// func says of a panic, a plain error of a directive on a field, representations that
// federation does not accept. Of joined errors and lists, one part that is hidden hides all.
// Causes of policies' errors, and what a fallback that failed was given, do not count. Mind
// that a GraphQL client's error that a resolver returns is a GraphQL error, of the dependency.
//
// next gets GraphQL errors whose text clients may see, [CodeInternal]'s included. What is
// hidden it reaches by [errors.Unwrap], [errors.Is] and [errors.As] alone, so that it can tell
// clients more in words of its own. Of what next returns, the same is hidden again. Hidden
// errors are logged, even if next returns nil, unless it gives them a code of its own. They
// stay the Err of the error in the response, which is never sent.
func MaskUnknown(logger *slog.Logger) PresenterOption {
	return func(p *presenter) { p.mask = &mask{logger} }
}

type mask struct {
	logger *slog.Logger // nil: slog.Default()
}

func (m *mask) present(ctx context.Context, err error, next graphql.ErrorPresenterFunc) *gqlerror.Error {
	shown, instance := show(ctx, err)
	presented := next(ctx, shown)
	if presented != nil && presented != shown {
		again, hidden := show(ctx, presented)
		switch {
		case hidden == "":
			presented = again
		case instance != "":
			presented = shown
		default:
			err, presented, instance = presented, again, hidden
		}
	}
	if instance != "" && !isAnswered(presented) {
		m.log(ctx, instance, err)
	}
	return presented
}

// isAnswered reports whether next knew what to tell of an error that was hidden from clients.
func isAnswered(presented *gqlerror.Error) bool {
	return presented != nil && isCoded(presented.Extensions) && codeIn(presented.Extensions) != CodeInternal
}

// show returns what a client may see of err. An instance other than "" says that it is not the
// error itself.
func show(ctx context.Context, err error) (shown *gqlerror.Error, instance string) {
	if asked, ok := err.(*gqlerror.Error); ok && isAboutRequest(ctx, asked) {
		return asked, ""
	}
	v := judge(err)
	if v.forClients() {
		return v.shown(ctx, err), ""
	}
	instance = newInstance()
	return v.located(ctx, &gqlerror.Error{
		Err:     err,
		Message: internalMessage,
		Extensions: map[string]any{
			codeKey:     CodeInternal,
			statusKey:   http.StatusInternalServerError,
			instanceKey: instance,
		},
	}), instance
}

// newInstance returns an id that can't be guessed.
func newInstance() string {
	var id [8]byte
	rand.Read(id[:]) // which never fails
	return hex.EncodeToString(id[:])
}

func (m *mask) log(ctx context.Context, instance string, err error) {
	level := slog.LevelError
	if errors.Is(ctx.Err(), context.Canceled) && errtree.Is(err, context.Canceled) {
		level = slog.LevelDebug
	}
	path := judge(err).located(ctx, &gqlerror.Error{}).Path
	attrs := []slog.Attr{
		slog.String("instance", instance),
		slog.String("field", coordinate(ctx)),
		slog.String("path", path.String()),
		slog.String("error", wrapped(err).Error()),
	}
	if fallback, ok := errtree.As[*policy.FallbackError](err); ok && fallback != nil && fallback.Cause != nil {
		attrs = append(attrs, slog.String("cause", fallback.Cause.Error()))
	}
	cmp.Or(m.logger, slog.Default()).LogAttrs(ctx, level, "hid an error from the client", attrs...)
}
