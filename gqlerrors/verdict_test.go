package gqlerrors_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/causes"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

var (
	errNoOrder = errors.New("no such order")
	timeout    = &policy.Error{Kind: policy.KindTimeout, Policy: "carrier", Cause: errSecret}
)

// presentable is an error that is a GraphQL error by its As method alone.
type presentable struct{ as *gqlerror.Error }

func (p presentable) Error() string { return errSecret.Error() }

func (p presentable) As(target any) bool {
	own, ok := target.(**gqlerror.Error)
	if ok {
		*own = p.as
	}
	return ok
}

// selfish is an error whose As method wraps it.
type selfish struct{}

func (s selfish) Error() string { return errSecret.Error() }

func (s selfish) As(target any) bool {
	own, ok := target.(**gqlerror.Error)
	if ok {
		*own = gqlerror.Wrap(s)
	}
	return ok
}

func TestErrorsForClientsPassWithoutTheTextOfWhatWrapsThem(t *testing.T) {
	for _, row := range []struct {
		behaviour string
		err       error
		want      string // the message
		code      any
	}{
		{"a policy's error", timeout, "The operation timed out", "TIMEOUT"},
		{"a policy's error beside another", errors.Join(timeout, errSecret), "The operation timed out", "TIMEOUT"},
		{"a policy's error beside a code", errors.Join(timeout, coded("NOT_FOUND", nil)), "mine", "NOT_FOUND"},
		{"a GraphQL error", gqlerror.Errorf("no such order"), "no such order", nil},
		{"a wrapped GraphQL error", fmt.Errorf("%w: %w", errWrap{}, gqlerror.Errorf("no such order")), "no such order", nil},
		{"a GraphQL error with a cause", &gqlerror.Error{Message: "no such order", Err: errSecret}, "no such order", nil},
		{"a GraphQL error below one that repeats it", gqlerror.Wrap(fmt.Errorf("10.0.0.7: %w", gqlerror.Errorf("no such order"))), "no such order", nil},
		{"a GraphQL error repeated below one", &gqlerror.Error{Message: "no such order", Err: fmt.Errorf("10.0.0.7: %w", gqlerror.Errorf("no such order"))}, "no such order", nil},
		{"a code", coded("NOT_FOUND", errSecret), "mine", "NOT_FOUND"},
		{"a code on what only wraps", withCode("NOT_FOUND", gqlerror.Wrap(errNoOrder)), "no such order", "NOT_FOUND"},
		{"a marked error", policy.AsClientError(errNoOrder), "no such order", nil},
		{"a marked error wrapped", fmt.Errorf("10.0.0.7: %w", policy.AsClientError(errNoOrder)), "no such order", nil},
		{"marked errors joined", errors.Join(policy.AsClientError(errNoOrder), policy.AsClientError(errors.New("no such item"))), "no such order\nno such item", nil},
		{"a marked error of a fallback", &policy.FallbackError{Err: policy.AsClientError(errNoOrder), Cause: errSecret}, "no such order", nil},
		{"a GraphQL error of a fallback", &policy.FallbackError{Err: gqlerror.Errorf("no such order"), Cause: errSecret}, "no such order", nil},
		{"a list", gqlerror.List{gqlerror.Errorf("no such order"), gqlerror.Errorf("no such item")}, "no such order", nil},
		{"a join", errors.Join(gqlerror.Errorf("no such order"), policy.AsClientError(errors.New("no such item"))), "no such order", nil},
		{"a GraphQL error by an As method", presentable{gqlerror.Errorf("no such order")}, "no such order", nil},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			logger, records := newLog(t)
			ctx := field(nil)

			presented := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))(ctx, row.err)

			require.NotNil(t, presented)
			assert.Equal(t, row.want, presented.Message)
			assert.Equal(t, row.code, presented.Extensions["code"])
			assert.NotContains(t, wire(t, presented), "10.0.0.7")
			assert.Empty(t, records())
			for _, text := range onTheWire(t, row.err) {
				assert.NotContains(t, text, "10.0.0.7")
			}
		})
	}
}

// errWrap is one of two errors that fmt.Errorf wraps, and says nothing that it is for clients.
type errWrap struct{}

func (errWrap) Error() string { return "10.0.0.7" }
func (errWrap) Unwrap() error { return policy.AsClientError(errNoOrder) }

func withCode(code string, err *gqlerror.Error) *gqlerror.Error {
	err.Extensions = map[string]any{"code": code}
	return err
}

// onTheWire is what a server that masks errors answers to a resolver's err.
func onTheWire(t *testing.T, err error) (texts []string) {
	t.Helper()
	server, _ := masked(t, failing(err), nil)
	response := testgraph.Post(t.Context(), t, server, `{ text }`)
	require.NotEmpty(t, response.Errors)
	for _, err := range response.Errors {
		texts = append(texts, wire(t, err))
	}
	return texts
}

func TestErrorsNotForClientsAreHidden(t *testing.T) {
	for behaviour, err := range map[string]error{
		"a plain error":                                    errSecret,
		"a wrapped one":                                    fmt.Errorf("prices: %w", errSecret),
		"one made presentable":                             gqlerror.Wrap(errSecret),
		"one made presentable with a path":                 gqlerror.WrapPath(ast.Path{ast.PathName("x")}, errSecret),
		"one made presentable with a position":             gqlerror.WrapPos(nil, errSecret),
		"one made presentable twice":                       gqlerror.Wrap(gqlerror.Wrap(errSecret)),
		"one with an empty code":                           withCode("", gqlerror.Wrap(errSecret)),
		"one with an empty code of another type":           &gqlerror.Error{Message: errSecret.Error(), Err: errSecret, Extensions: map[string]any{"code": errorCode("")}},
		"one that repeats a message below":                 &gqlerror.Error{Message: errSecret.Error(), Err: gqlerror.Wrap(errSecret)},
		"one that repeats a message far below":             &gqlerror.Error{Message: errSecret.Error(), Err: fmt.Errorf("prices: %w", errors.Join(errNoOrder, gqlerror.Wrap(gqlerror.Wrap(errSecret))))},
		"one that never says the same":                     gqlerror.Wrap(new(moody)),
		"one that wraps itself":                            forever{},
		"one that wraps itself, made presentable":          gqlerror.Wrap(forever{}),
		"joined with one that wraps itself":                errors.Join(gqlerror.Errorf("no such order"), forever{}),
		"a dependency's status":                            &policy.ResponseError{Status: 404},
		"a permanent error":                                policy.Permanent(errSecret),
		"joined with a marked one":                         errors.Join(policy.AsClientError(errNoOrder), errSecret),
		"joined with a GraphQL error":                      errors.Join(gqlerror.Errorf("no such order"), errSecret),
		"joined with a code":                               errors.Join(coded("NOT_FOUND", nil), errSecret),
		"joined below a wrapper":                           fmt.Errorf("prices: %w", errors.Join(policy.AsClientError(errNoOrder), errSecret)),
		"in a list with a GraphQL error":                   gqlerror.List{gqlerror.Errorf("no such order"), gqlerror.Wrap(errSecret)},
		"joined, and presentable by an As method":          errors.Join(gqlerror.Errorf("no such order"), selfish{}),
		"joined, and wrapping nothing":                     errors.Join(gqlerror.Errorf("no such order"), empty{}),
		"an empty list":                                    gqlerror.List{},
		"of a fallback":                                    &policy.FallbackError{Err: errSecret, Cause: errNoOrder},
		"of a fallback, joined with one that wraps itself": &policy.FallbackError{Err: errors.Join(gqlerror.Errorf("no such order"), forever{}), Cause: errNoOrder},
		"of a fallback, with a coded cause":                &policy.FallbackError{Err: errSecret, Cause: coded("NOT_FOUND", nil)},
		"of a fallback, with a marked cause":               &policy.FallbackError{Err: errSecret, Cause: policy.AsClientError(errNoOrder)},
		"of a fallback, with a cause of a policy":          &policy.FallbackError{Err: errSecret, Cause: timeout},
		"a policy error of unknown kind":                   &policy.Error{Kind: 99, Policy: "10.0.0.7", Cause: coded("NOT_FOUND", nil)},
		"a nil policy error":                               fmt.Errorf("prices: %w", (*policy.Error)(nil)),
		"a nil fallback error":                             fmt.Errorf("prices: %w", error((*nilFallback)(nil))),
		"presentable by an As method":                      presentable{gqlerror.Wrap(errSecret)},
		"presentable by an As method that wraps it":        selfish{},
		"one that wraps nothing":                           fmt.Errorf("prices: %w", error(empty{})),
	} {
		t.Run(behaviour, func(t *testing.T) {
			logger, records := newLog(t)

			presented := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))(field(nil), err)

			requireHidden(t, presented)
			assert.NotEmpty(t, presented.Path)
			require.Len(t, records(), 1)
			assert.Equal(t, presented.Extensions["instance"], records()[0].Instance)
			assert.Equal(t, err, presented.Err)

			requireHidden(t, gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))(field(nil), causes.Hide(err))) // as the extension returns it
		})
	}
}

// nilFallback wraps a nil fallback error.
type nilFallback struct{}

func (*nilFallback) Error() string { return errSecret.Error() }
func (*nilFallback) Unwrap() error { return (*policy.FallbackError)(nil) }

// errorCode is a code of a type of its own.
type errorCode string

// moody is an error that never says the same.
type moody struct{ said int }

func (m *moody) Error() string {
	m.said++
	return fmt.Sprintf("%v (%d)", errSecret, m.said)
}

// forever is an error that wraps itself.
type forever struct{}

func (forever) Error() string   { return errSecret.Error() }
func (f forever) Unwrap() error { return f }

// empty is an error that could wrap several.
type empty struct{}

func (empty) Error() string   { return errSecret.Error() }
func (empty) Unwrap() []error { return nil }

func TestWhatWrapsAnErrorForClientsStaysInReach(t *testing.T) {
	own := gqlerror.Errorf("no such order")
	for behaviour, err := range map[string]error{
		"a GraphQL error": fmt.Errorf("10.0.0.7: %w", own),
		"a marked one":    fmt.Errorf("10.0.0.7: %w", policy.AsClientError(errNoOrder)),
	} {
		t.Run(behaviour, func(t *testing.T) {
			presented := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(nil))(field(nil), err)

			assert.Equal(t, "no such order", presented.Message)
			assert.Equal(t, "quotes", presented.Path.String())
			assert.Equal(t, err, presented.Err)
			assert.Nil(t, own.Err, "the error it came from must stay as it was")
		})
	}
}

func TestAnErrorForClientsIsHandedOnAsItIs(t *testing.T) {
	presenter := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(nil))
	for behaviour, err := range map[string]*gqlerror.Error{
		"a GraphQL error":          gqlerror.Errorf("no such order"),
		"a code":                   coded("NOT_FOUND", errSecret),
		"a marked one, made so":    gqlerror.Wrap(policy.AsClientError(errNoOrder)),
		"what was converted above": gqlerrors.Convert(timeout).(*gqlerror.Error),
	} {
		t.Run(behaviour, func(t *testing.T) {
			assert.Same(t, err, presenter(t.Context(), err))
		})
	}
}
