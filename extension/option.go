package extension

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"github.com/gqlresilience/gqlresilience/internal/funcname"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Option configures an [Extension].
type Option func(*Extension)

// Field says from Go what @resilience says in a schema, and what it can't say. The same
// setting given by both is an error; settings that are not given here are taken from the
// field's annotation and its type's.
type Field struct {
	// Preset names the preset of the registry's config. "": not given here.
	Preset string

	// Idempotent allows retries in mutations and subscriptions. nil: not given here.
	Idempotent *bool

	// Spec comes before the preset, setting by setting. A breaker, bulkhead or limiter that
	// it changes is the field's own, named by its coordinate, unless the spec names it.
	Spec policy.Spec
}

// WithField configures the field at coordinate, such as "Query.orders". That it exists, and
// that its settings make sense, is checked when a server's Use validates the extension. A field
// that is a plain struct field in Go has no policy, whatever is configured.
func WithField(coordinate string, field Field) Option {
	return func(e *Extension) {
		if _, ok := e.fields[coordinate]; ok {
			e.mistake("WithField(%q): given twice", coordinate)
			return
		}
		e.fields[coordinate] = field
	}
}

// WithFallback answers for the field at coordinate where it fails: with what answer makes
// of the error. Arguments and parent are in gqlgen's field context. By default, it is asked
// about every failure but a cancelled request and a client's error; see [When].
//
// T must be what the field's resolver or bound Go method returns: of a batch resolver one item's
// value, of a subscription's the receiving channel. That is checked when a server's Use validates
// the extension, as far as the types can be found; see [WithResolvers]. A plain struct field
// never asks its fallback.
//
// A resolver's panic is answered for where the policy has an enforced timeout, for then it is
// recovered here. Elsewhere it is gqlgen's to recover.
func WithFallback[T any](coordinate string, answer func(ctx context.Context, err error) (T, error), options ...FallbackOption) Option {
	return func(e *Extension) {
		if _, ok := e.fallbacks[coordinate]; ok {
			e.mistake("WithFallback(%q): given twice", coordinate)
			return
		}
		if answer == nil {
			e.mistake("WithFallback(%q): the function is nil", coordinate)
			return
		}
		conditions := e.conditionsOf(options, "WithFallback", coordinate)
		e.fallbacks[coordinate] = newFallback(answer, conditions)
	}
}

// FallbackOption limits what a fallback answers for. With several, it answers for
// the errors that any of them names.
type FallbackOption func(*conditions) error

type conditions []condition

type condition struct {
	holds func(error) bool
	names []string // what a [Plan] calls it
}

// conditionsOf returns the conditions that the options name for a field's fallback.
func (e *Extension) conditionsOf(options []FallbackOption, given, coordinate string) (c conditions) {
	for _, option := range options {
		err := errors.New("an option is nil")
		if option != nil {
			err = option(&c)
		}
		if err != nil {
			e.mistake("%s(%q): %w", given, coordinate, err)
		}
	}
	return c
}

func (c conditions) any() func(error) bool {
	if len(c) == 0 {
		return nil
	}
	return func(err error) bool {
		return slices.ContainsFunc(c, func(one condition) bool { return one.holds(err) })
	}
}

func (c conditions) names() (all []string) {
	for _, one := range c {
		all = append(all, one.names...)
	}
	return all
}

// When makes a fallback answer for errors that match one of errs with [errors.Is], such as
// [policy.ErrCircuitOpen], and for no others.
func When(errs ...error) FallbackOption {
	return func(c *conditions) error {
		if len(errs) == 0 || slices.Contains(errs, nil) {
			return errors.New("When: needs errors that are not nil")
		}
		holds := func(err error) bool {
			return slices.ContainsFunc(errs, func(target error) bool { return errors.Is(err, target) })
		}
		names := make([]string, len(errs))
		for i, err := range errs {
			names[i] = fmt.Sprint(err)
		}
		*c = append(*c, condition{holds, names})
		return nil
	}
}

// WhenFunc makes a fallback answer for errors that answers reports true for, and for no
// others.
func WhenFunc(answers func(error) bool) FallbackOption {
	return func(c *conditions) error {
		if answers == nil {
			return errors.New("WhenFunc: the function is nil")
		}
		*c = append(*c, condition{answers, []string{funcname.Of(answers)}})
		return nil
	}
}

// WithResolvers tells which resolvers the server has: resolvers is what the Resolvers of the
// generated Config were set to, guards included. Code that gqlgen generates tells that itself, so
// it is for schemas that are wrapped in something that hides them, and changes nothing for others.
//
// It is what the checks at boot go by: which annotated fields have a resolver, a bound Go method or
// neither, and what their fallbacks must return. Without it, and where the schema hides its
// resolvers, a fallback of the wrong type is its field's error, which names both types, and a field
// that never passes its policy is not warned about.
func WithResolvers(resolvers any) Option {
	return func(e *Extension) {
		switch {
		case e.resolvers != nil:
			e.mistake("WithResolvers: given twice")
		case !isResolverRoot(reflect.TypeOf(resolvers)):
			e.mistake("WithResolvers: %T is no ResolverRoot: it has no method that returns resolvers", resolvers)
		default:
			e.resolvers = resolvers
		}
	}
}

// Strict makes errors of what is otherwise warned about at boot: [Extension.Warnings] lists it.
// What only looks wrong, where no guards were generated that know, stays a warning. Warnings are
// reported beside mistakes, except those that need finished policies: fix the mistakes to see
// them.
func Strict() Option {
	return func(e *Extension) { e.strict = true }
}

// WithLogger logs what the registry's policies do, for fields and jobs alike: changes of a
// breaker's state and fallbacks that failed at warn, answers of fallbacks and abandoned attempts
// at info, retries, timeouts and rejections at debug, each with field and policy. The field of a
// job is its source. Warnings at boot are logged too, to [slog.Default] where there is no
// WithLogger.
//
// It is the registry's events that are logged, so of several extensions with one registry only
// one needs a logger.
func WithLogger(logger *slog.Logger) Option {
	return func(e *Extension) {
		if logger == nil {
			e.mistake("WithLogger: the logger is nil")
			return
		}
		e.logger = logger
	}
}

// WithoutErrorMapping passes policies' errors on as they are, for servers whose error
// presenter does the mapping. Without that, clients see the names of policies in messages, but
// not the causes.
func WithoutErrorMapping() Option {
	return func(e *Extension) { e.unmapped = true }
}

// WithClientErrorCodes adds codes, as in the extensions of a GraphQL error, that mean the
// client's fault: such an error is not retried, no breaker counts it and by default no
// fallback hides it. Always among them are BAD_USER_INPUT, UNAUTHENTICATED, FORBIDDEN,
// NOT_FOUND, GRAPHQL_VALIDATION_FAILED, GRAPHQL_PARSE_FAILED and PERSISTED_QUERY_NOT_FOUND.
func WithClientErrorCodes(codes ...string) Option {
	return func(e *Extension) {
		if len(codes) == 0 {
			e.mistake("WithClientErrorCodes: names no code")
		}
		for _, code := range codes {
			if strings.TrimSpace(code) == "" {
				e.mistake("WithClientErrorCodes: %q: a code must not be blank", code)
			}
			e.clientErrorCodes[code] = true
		}
	}
}

// mistake keeps a mistake in the options for Validate.
func (e *Extension) mistake(format string, args ...any) {
	e.mistakes = append(e.mistakes, fmt.Errorf(format, args...))
}
