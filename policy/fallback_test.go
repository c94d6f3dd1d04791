package policy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// newFallback makes a policy that has only a fallback.
func newFallback(t *testing.T, fn func(context.Context, error) (any, error)) (*policy.Policy, *recorder) {
	t.Helper()
	p, registry := newPolicy(t, policy.Spec{Fallback: &policy.FallbackSpec{Func: fn}})
	return p, record(registry)
}

func TestAFallbackAnswersWithItsValue(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "the caller's")
	p, events := newFallback(t, func(ctx context.Context, err error) (any, error) {
		assert.Equal(t, "the caller's", ctx.Value(key{}))
		assert.Zero(t, policy.AttemptFromContext(ctx))
		assert.Same(t, errDown, err)
		return "flat rate", nil
	})
	value, err := policy.Execute(ctx, p, failWith(policy.Permanent(errDown)))
	assert.NoError(t, err)
	assert.Equal(t, "flat rate", value)
	require.Len(t, events.all(), 1)
	assert.Equal(t, policy.EventFallback, events.all()[0].Kind)
	assert.Same(t, errDown, events.all()[0].Err)
}

func TestAFallbackIsNotAskedAboutASuccess(t *testing.T) {
	p, events := newFallback(t, func(context.Context, error) (any, error) {
		t.Error("asked")
		return nil, nil
	})
	value, err := policy.Execute(t.Context(), p, succeed)
	assert.NoError(t, err)
	assert.Equal(t, "quote", value)
	assert.Empty(t, events.all())
}

func TestAFallbacksErrorTakesThePlaceOfTheOriginal(t *testing.T) {
	own := errors.New("no flat rate today")
	p, _ := newFallback(t, func(context.Context, error) (any, error) { return nil, own })
	err := run(t.Context(), p, fail)
	assert.Equal(t, "no flat rate today", err.Error())
	assert.ErrorIs(t, err, own)
	assert.ErrorIs(t, err, errDown, "the original as cause")
	var e *policy.FallbackError
	require.ErrorAs(t, err, &e)
	assert.Same(t, errDown, e.Cause)
}

func TestAFallbackMayReturnTheErrorItGot(t *testing.T) {
	p, _ := newFallback(t, func(_ context.Context, err error) (any, error) { return nil, err })
	assert.Same(t, errDown, run(t.Context(), p, fail))
}

// mistakes is an error type that == panics on, as gqlerror.List and validators have.
type mistakes []string

func (m mistakes) Error() string { return strings.Join(m, "; ") }

func TestErrorsThatCannotBeComparedAreNoTrouble(t *testing.T) {
	bad := mistakes{"no street", "no city"}
	for name, returned := range map[string]error{"the same": bad, "another": mistakes{"no flat rate"}, "wrapped": fmt.Errorf("x: %w", bad)} {
		t.Run(name, func(t *testing.T) {
			p, _ := newFallback(t, func(context.Context, error) (any, error) { return nil, returned })
			err := run(t.Context(), p, failWith(bad))
			assert.Equal(t, returned.Error(), err.Error())
			var m mistakes
			assert.ErrorAs(t, err, &m)
		})
	}
}

func TestAFallbacksPanicIsTheCallers(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{
				Timeout:  timeoutSpec(time.Second, mode),
				Fallback: &policy.FallbackSpec{Func: func(context.Context, error) (any, error) { panic("no flat rate") }},
			})
			assert.PanicsWithValue(t, "no flat rate", func() { _ = run(t.Context(), p, fail) })
		})
	})
}

func TestNoFallbackForACallerWhoLeftOrErred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, events := newFallback(t, answer)
		client := policy.AsClientError(errDown)
		assert.Same(t, client, run(t.Context(), p, failWith(client)))

		ctx, cancel := context.WithCancel(t.Context())
		assert.Same(t, errDown, run(ctx, p, func(context.Context) (string, error) { cancel(); return "", errDown }))
		assert.Empty(t, events.all())
	})
}

func TestFallbackIfDecidesAboutEachError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			CircuitBreaker: &policy.CircuitBreakerSpec{},
			Fallback: &policy.FallbackSpec{Func: answer, FallbackIf: func(err error) bool {
				return errors.Is(err, policy.ErrCircuitOpen) || errors.Is(err, errNotFound)
			}},
		})
		assert.Same(t, errDown, run(t.Context(), p, fail))
		assert.NoError(t, run(t.Context(), p, failWith(policy.AsClientError(errNotFound))), "the table is replaced")
		breaker, _ := registry.CircuitBreaker("carrier")
		breaker.Trip()
		assert.NoError(t, run(t.Context(), p, succeed))

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, run(ctx, p, succeed), context.Canceled)
	})
}

func TestAnAnswerOfAnotherTypeIsAnErrorThatNamesBoth(t *testing.T) {
	p, _ := newFallback(t, func(context.Context, error) (any, error) { return 499, nil })
	value, err := policy.Execute(t.Context(), p, fail)
	assert.EqualError(t, err, `policy "carrier": the fallback returned a int where the call returns a string`)
	assert.Empty(t, value)

	_, err = policy.Execute(t.Context(), p, func(context.Context) (fmt.Stringer, error) { return nil, errDown })
	assert.EqualError(t, err, `policy "carrier": the fallback returned a int where the call returns a fmt.Stringer`)
}

func TestANilAnswerIsTheZeroValue(t *testing.T) {
	p, _ := newFallback(t, func(context.Context, error) (any, error) { return nil, nil })
	value, err := policy.Execute(t.Context(), p, fail)
	assert.NoError(t, err)
	assert.Empty(t, value)
	list, err := policy.Execute(t.Context(), p, func(context.Context) ([]string, error) { return nil, errDown })
	assert.NoError(t, err)
	assert.Nil(t, list)
}

func TestExecuteReturnsInterfaces(t *testing.T) {
	p, _ := newFallback(t, func(context.Context, error) (any, error) { return time.Second, nil })
	value, err := policy.Execute(t.Context(), p, func(context.Context) (fmt.Stringer, error) { return nil, errDown })
	assert.NoError(t, err)
	assert.Equal(t, "1s", value.String())
	value, err = policy.Execute(t.Context(), p, func(context.Context) (fmt.Stringer, error) { return nil, nil })
	assert.NoError(t, err)
	assert.Nil(t, value)
	anything, err := policy.Execute(t.Context(), p, func(context.Context) (any, error) { return nil, errDown })
	assert.NoError(t, err)
	assert.Equal(t, time.Second, anything)
}

func TestTheFallbackComesAfterTheRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(3, time.Second), Fallback: &policy.FallbackSpec{Func: answer}})
		events := record(registry)
		value, err := policy.Execute(t.Context(), p, fail)
		assert.NoError(t, err)
		assert.Equal(t, "flat rate", value)
		assert.Equal(t, []policy.EventKind{"retry", "retry", "fallback"}, events.kinds())
	})
}
