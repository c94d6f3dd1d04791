package gqlerrors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

// wire is what a client gets of an error.
func wire(t *testing.T, err error) string {
	t.Helper()
	text, failure := json.Marshal(err)
	require.NoError(t, failure)
	return string(text)
}

func TestConvertPutsCodeStatusAndFixedMessageOnTheWireAndNothingElse(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.7:443: refused")
	for _, row := range []struct {
		behaviour string
		kind      policy.ErrorKind
		wait      time.Duration
		want      string
	}{
		{"timeout", policy.KindTimeout, 0,
			`{"message": "The operation timed out", "extensions": {"code": "TIMEOUT", "httpStatus": 504}}`},
		{"a timeout does not say when to come back", policy.KindTimeout, time.Minute,
			`{"message": "The operation timed out", "extensions": {"code": "TIMEOUT", "httpStatus": 504}}`},
		{"open circuit", policy.KindCircuitOpen, 30 * time.Second,
			`{"message": "Service temporarily unavailable", "extensions": {"code": "CIRCUIT_OPEN", "httpStatus": 503, "retryAfter": 30}}`},
		{"open circuit, wait not known", policy.KindCircuitOpen, 0,
			`{"message": "Service temporarily unavailable", "extensions": {"code": "CIRCUIT_OPEN", "httpStatus": 503}}`},
		{"open circuit, wait over", policy.KindCircuitOpen, -time.Second,
			`{"message": "Service temporarily unavailable", "extensions": {"code": "CIRCUIT_OPEN", "httpStatus": 503}}`},
		{"full bulkhead", policy.KindBulkheadFull, 0,
			`{"message": "Server is at capacity", "extensions": {"code": "BULKHEAD_FULL", "httpStatus": 503}}`},
		{"a full bulkhead does not say when to come back", policy.KindBulkheadFull, time.Minute,
			`{"message": "Server is at capacity", "extensions": {"code": "BULKHEAD_FULL", "httpStatus": 503}}`},
		{"rate limit", policy.KindRateLimited, 1200 * time.Millisecond,
			`{"message": "Rate limit of a dependency exceeded", "extensions": {"code": "RATE_LIMITED", "httpStatus": 503, "retryAfter": 2}}`},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			failure := &policy.Error{
				Kind: row.kind, Policy: "carrier", Source: "Query.x", RetryAfter: row.wait, Reason: "queue timeout", Cause: secret,
			}

			converted := gqlerrors.Convert(failure)

			assert.JSONEq(t, row.want, wire(t, converted))
			assert.Same(t, failure, must(errors.AsType[*policy.Error](converted)))
			assert.ErrorIs(t, converted, secret, "a presenter must reach the cause")
		})
	}
}

func must[T any](value T, ok bool) T {
	if !ok {
		panic("missing")
	}
	return value
}

func TestConvertRoundsTheWaitUpToWholeSeconds(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		1:                            1,
		time.Second:                  1,
		time.Second + 1:              2,
		29*time.Second + 1:           30,
		time.Duration(math.MaxInt64): math.MaxInt32,
	} {
		t.Run(wait.String(), func(t *testing.T) {
			converted := gqlerrors.Convert(&policy.Error{Kind: policy.KindCircuitOpen, RetryAfter: wait})

			assert.Equal(t, want, converted.(*gqlerror.Error).Extensions["retryAfter"])
		})
	}
}

func TestConvertFindsThePolicyErrorAnywhereInTheChain(t *testing.T) {
	timeout := &policy.Error{Kind: policy.KindTimeout}
	limited := &policy.Error{Kind: policy.KindRateLimited, RetryAfter: time.Second}
	for _, row := range []struct {
		behaviour string
		err       error
		code      string
	}{
		{"wrapped", fmt.Errorf("quotes: %w", fmt.Errorf("carrier: %w", timeout)), "TIMEOUT"},
		{"joined", errors.Join(errors.New("a"), fmt.Errorf("b: %w", limited)), "RATE_LIMITED"},
		{"the first of several", errors.Join(limited, timeout), "RATE_LIMITED"},
		{"the outer of two", &policy.Error{Kind: policy.KindCircuitOpen, Cause: timeout}, "CIRCUIT_OPEN"},
		{"in a wrapped list", fmt.Errorf("batch: %w", gqlerror.List{gqlerror.Wrap(timeout)}), "TIMEOUT"},
		{"by an As method", disguised{limited}, "RATE_LIMITED"},
		{"in a fallback's error", &policy.FallbackError{Err: fmt.Errorf("cache: %w", limited), Cause: timeout}, "RATE_LIMITED"},
		{"handed on by a fallback", &policy.FallbackError{Err: timeout, Cause: timeout}, "TIMEOUT"},
		{"above a coded cause", &policy.Error{Kind: policy.KindTimeout, Cause: coded("UPSTREAM", nil)}, "TIMEOUT"},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			converted, ok := gqlerrors.Convert(row.err).(*gqlerror.Error)

			require.True(t, ok)
			assert.Equal(t, row.code, converted.Extensions["code"])
			assert.Equal(t, row.err, converted.Err)
		})
	}
}

// disguised is an error that is another one by its As method alone.
type disguised struct{ as *policy.Error }

func (d disguised) Error() string { return "disguised" }

func (d disguised) As(target any) bool {
	failure, ok := target.(**policy.Error)
	if ok {
		*failure = d.as
	}
	return ok
}

func coded(code string, cause error) *gqlerror.Error {
	return &gqlerror.Error{Err: cause, Message: "mine", Extensions: map[string]any{"code": code}}
}

func TestConvertPassesOtherErrorsUnchanged(t *testing.T) {
	timeout := &policy.Error{Kind: policy.KindTimeout}
	for behaviour, err := range map[string]error{
		"an error of the resolver":                     errors.New("no such order"),
		"a deadline of the caller":                     context.DeadlineExceeded,
		"a GraphQL error":                              gqlerror.Errorf("no such order"),
		"a GraphQL error with a code":                  coded("NOT_FOUND", nil),
		"a policy error that was given a code":         coded("SLOW", timeout),
		"one below a GraphQL error without a code":     gqlerror.Wrap(fmt.Errorf("quotes: %w", coded("SLOW", timeout))),
		"a code beside a policy error":                 errors.Join(timeout, coded("NOT_FOUND", nil)),
		"a code that is no text":                       &gqlerror.Error{Err: timeout, Extensions: map[string]any{"code": 42}},
		"what was converted before":                    gqlerrors.Convert(timeout),
		"what was converted before, and wrapped since": fmt.Errorf("quotes: %w", gqlerrors.Convert(timeout)),
		"a policy error of unknown kind":               &policy.Error{Kind: 99},
		"a fallback's own error":                       &policy.FallbackError{Err: errors.New("no cached quotes"), Cause: timeout},
		"a nil fallback error":                         (*policy.FallbackError)(nil),
		"a nil policy error":                           (*policy.Error)(nil),
		"a nil GraphQL error":                          (*gqlerror.Error)(nil),
	} {
		t.Run(behaviour, func(t *testing.T) {
			assert.True(t, err == gqlerrors.Convert(err), "the identical error")
		})
	}
	assert.NoError(t, gqlerrors.Convert(nil))
}

func TestConvertMakesANewErrorOnEveryCall(t *testing.T) {
	failure := &policy.Error{Kind: policy.KindTimeout}

	first, second := gqlerrors.Convert(failure).(*gqlerror.Error), gqlerrors.Convert(failure).(*gqlerror.Error)
	first.Path = ast.Path{ast.PathName("a")}
	first.Extensions["touched"] = true

	assert.NotSame(t, first, second)
	assert.Nil(t, second.Path)
	assert.NotContains(t, second.Extensions, "touched")
}

func TestConvertKeepsOnlyPathAndLocationsOfAGraphQLError(t *testing.T) {
	failure := &policy.Error{Kind: policy.KindTimeout, Policy: "carrier", Cause: &gqlerror.Error{
		Path: ast.Path{ast.PathName("elsewhere")}, Locations: []gqlerror.Location{{Line: 9}},
	}}
	added := &gqlerror.Error{
		Err:        failure,
		Message:    failure.Error(),
		Path:       ast.Path{ast.PathName("orders"), ast.PathIndex(1), ast.PathName("quotes")},
		Locations:  []gqlerror.Location{{Line: 2, Column: 3}},
		Extensions: map[string]any{"http": map[string]any{"status": 500}, "code": ""},
		Rule:       "rule",
	}
	before := *added
	const want = `{
		"message": "The operation timed out",
		"path": ["orders", 1, "quotes"],
		"locations": [{"line": 2, "column": 3}],
		"extensions": {"code": "TIMEOUT", "httpStatus": 504}
	}`

	assert.JSONEq(t, want, wire(t, gqlerrors.Convert(added)))
	assert.JSONEq(t, want, wire(t, gqlerrors.Convert(fmt.Errorf("quotes: %w", added))))
	assert.Equal(t, before, *added, "the error it came from must stay as it was")

	bare := gqlerrors.Convert(fmt.Errorf("quotes: %w", failure)).(*gqlerror.Error)
	assert.Nil(t, bare.Path, "a cause's path is not the field's")
	assert.Nil(t, bare.Locations)
}

func TestConvertMapsAListElementByElement(t *testing.T) {
	plain, slow := gqlerror.Errorf("no such order"), gqlerror.Wrap(&policy.Error{Kind: policy.KindTimeout})
	list := gqlerror.List{plain, nil, slow, coded("SLOW", slow)}

	converted, ok := gqlerrors.Convert(list).(gqlerror.List)

	require.True(t, ok)
	require.Len(t, converted, 4)
	assert.Same(t, plain, converted[0])
	assert.Nil(t, converted[1])
	assert.Equal(t, "TIMEOUT", converted[2].Extensions["code"])
	assert.Same(t, list[3], converted[3])
	assert.Same(t, slow, list[2], "the list itself must stay as it was")
}

func TestConvertReturnsAListWithoutPolicyErrorsItself(t *testing.T) {
	list := gqlerror.List{gqlerror.Errorf("no such order")}

	converted := gqlerrors.Convert(list).(gqlerror.List)

	assert.Same(t, &list[0], &converted[0])
	assert.Equal(t, gqlerror.List(nil), gqlerrors.Convert(gqlerror.List(nil)))
}
