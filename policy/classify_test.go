package policy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

type statusCode int

func (s statusCode) Error() string   { return fmt.Sprintf("status %d", int(s)) }
func (s statusCode) StatusCode() int { return int(s) }

type httpStatus int

func (s httpStatus) Error() string   { return fmt.Sprintf("status %d", int(s)) }
func (s httpStatus) HTTPStatus() int { return int(s) }

type httpStatusCode int

func (s httpStatusCode) Error() string       { return fmt.Sprintf("status %d", int(s)) }
func (s httpStatusCode) HTTPStatusCode() int { return int(s) }

var errNotFound = errors.New("no such order")

// observed is what a policy with every stage made of one error.
type observed struct {
	retried  bool
	counted  bool
	answered bool
}

// A failure of each class, and what retry, breaker and fallback make of it.
var (
	aFailure     = observed{retried: true, counted: true, answered: true}
	aRejection   = observed{answered: true}
	aPermanent   = observed{counted: true, answered: true}
	aClientError = observed{}
)

// observe runs fn under a policy that has every stage, in a bubble.
func observe(t *testing.T, fn func(context.Context) (string, error)) observed {
	t.Helper()
	registry := newRegistry(t, policy.Config{IsClientError: func(err error) bool { return errors.Is(err, errNotFound) }})
	p, err := registry.New("carrier", policy.Spec{
		Timeout:        timeoutSpec(time.Second, policy.Enforced),
		Retry:          retrySpec(2, 0),
		CircuitBreaker: &policy.CircuitBreakerSpec{},
		Fallback:       &policy.FallbackSpec{Func: answer},
	})
	require.NoError(t, err)
	breaker, _ := registry.CircuitBreaker("carrier")
	calls := 0
	value, _ := policy.Execute(t.Context(), p, func(ctx context.Context) (string, error) {
		calls++
		return fn(ctx)
	})
	stats := breaker.Stats()
	require.Equal(t, stats.Calls, stats.Failures)
	require.Contains(t, []int{0, calls}, stats.Calls)
	return observed{retried: calls == 2, counted: stats.Failures > 0, answered: value == "flat rate"}
}

func TestWhatCountsAsAFailure(t *testing.T) {
	rejection := &policy.Error{Kind: policy.KindCircuitOpen}
	for name, row := range map[string]struct {
		err  error
		want observed
	}{
		"any error":                           {errDown, aFailure},
		"a cancellation of its own":           {context.Canceled, aFailure},
		"a deadline of its own":               {context.DeadlineExceeded, aFailure},
		"another policy's timeout":            {&policy.Error{Kind: policy.KindTimeout}, aFailure},
		"another policy's open circuit":       {rejection, aRejection},
		"another policy's full bulkhead":      {&policy.Error{Kind: policy.KindBulkheadFull}, aRejection},
		"another policy's rate limit":         {&policy.Error{Kind: policy.KindRateLimited}, aRejection},
		"a panic that was recovered":          {&policy.PanicError{Value: "boom"}, aPermanent},
		"permanent":                           {policy.Permanent(errDown), aPermanent},
		"a client error":                      {policy.AsClientError(errDown), aClientError},
		"a client error of the classifier":    {errNotFound, aClientError},
		"status 400":                          {statusCode(400), aClientError},
		"status 404 as HTTPStatus":            {httpStatus(404), aClientError},
		"status 499 as HTTPStatusCode":        {httpStatusCode(499), aClientError},
		"status 403 of CheckResponse":         {&policy.ResponseError{Status: 403}, aClientError},
		"status 399":                          {statusCode(399), aFailure},
		"status 408":                          {statusCode(408), aFailure},
		"status 429":                          {httpStatus(429), aFailure},
		"status 429 as HTTPStatusCode":        {httpStatusCode(429), aFailure},
		"status 500":                          {statusCode(500), aFailure},
		"status 503 of CheckResponse":         {&policy.ResponseError{Status: 503}, aFailure},
		"no status":                           {statusCode(0), aFailure},
		"a retry-after decides nothing":       {policy.WithRetryAfter(errDown, time.Second), aFailure},
		"nor on a client error":               {policy.WithRetryAfter(statusCode(404), time.Second), aClientError},
		"a rejection beats permanent":         {policy.Permanent(rejection), aRejection},
		"a rejection beats a client error":    {policy.AsClientError(rejection), aRejection},
		"a panic beats a client error":        {policy.AsClientError(&policy.PanicError{Value: 1}), aPermanent},
		"a client error's panic":              {&policy.PanicError{Value: statusCode(404)}, aPermanent},
		"permanent beats a client error":      {policy.AsClientError(policy.Permanent(errDown)), aPermanent},
		"either way round":                    {policy.Permanent(statusCode(404)), aPermanent},
		"a client error beats 503":            {policy.AsClientError(statusCode(503)), aClientError},
		"what is behind a timeout is past":    {&policy.Error{Kind: policy.KindTimeout, Cause: policy.AsClientError(errDown)}, aFailure},
		"what is behind a rejection, too":     {&policy.Error{Kind: policy.KindRateLimited, Cause: policy.Permanent(errDown)}, aRejection},
		"a failed fallback of another policy": {&policy.FallbackError{Err: errDown, Cause: rejection}, aRejection},
	} {
		for depth, wrap := range map[string]func(error) error{
			"bare":    func(err error) error { return err },
			"wrapped": func(err error) error { return fmt.Errorf("quotes: %w", err) },
			"joined":  func(err error) error { return errors.Join(errDown, err, errors.ErrUnsupported) },
			"deep": func(err error) error {
				return fmt.Errorf("a: %w and %w", errDown, errors.Join(nil, errors.Join(errDown, fmt.Errorf("b: %w", fmt.Errorf("c: %w", err)))))
			},
		} {
			t.Run(name+", "+depth, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					assert.Equal(t, row.want, observe(t, failWith(wrap(row.err))))
				})
			})
		}
	}
}

// apiError is an error as clients generated from a specification have them.
type apiError struct{ code int }

func (e *apiError) Error() string   { return fmt.Sprintf("status %d", e.code) }
func (e *apiError) StatusCode() int { return e.code }

func TestANilPointerIsAFailureThatSaysNothing(t *testing.T) {
	for name, err := range map[string]error{
		"policy error":   (*policy.Error)(nil),
		"response error": (*policy.ResponseError)(nil),
		"panic error":    (*policy.PanicError)(nil),
		"fallback error": (*policy.FallbackError)(nil),
		"foreign error":  (*apiError)(nil),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				assert.Equal(t, aFailure, observe(t, failWith(err)))
				assert.Equal(t, aFailure, observe(t, failWith(errors.Join(err, errDown))))
				assert.Equal(t, aClientError, observe(t, failWith(errors.Join(err, statusCode(404)))), "what is beside it still counts")
				assert.Equal(t, aPermanent, observe(t, failWith(policy.Permanent(err))))
				assert.NotErrorIs(t, err, policy.ErrTimeout)
			})
		})
	}
}

func TestATimeoutCausedByANilPointerCanBeRead(t *testing.T) {
	for _, err := range []error{(*policy.Error)(nil), (*apiError)(nil)} {
		synctest.Test(t, func(t *testing.T) {
			p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Cooperative)})
			timeout := run(t.Context(), p, func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "", err
			})
			assert.EqualError(t, timeout, `policy "carrier": the operation timed out: <nil>`)
		})
	}
}

func TestATimeoutOfTheAttemptIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, aFailure, observe(t, obey))
		assert.Equal(t, aFailure, observe(t, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", policy.AsClientError(errDown) // too late to decide anything
		}))
	})
}

func TestAPanicIsAFailureThatIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, aPermanent, observe(t, func(context.Context) (string, error) { panic("boom") }))
	})
}

func TestAClientErrorOfSeveralClassifiers(t *testing.T) {
	registry := newRegistry(t, policy.Config{})
	p, err := registry.New("carrier", policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	require.NoError(t, err)
	breaker, _ := registry.CircuitBreaker("carrier")
	wrapped := fmt.Errorf("quotes: %w", errNotFound)
	times(1, p, failWith(wrapped))
	assert.Equal(t, 1, breaker.Stats().Calls)

	registry.AddClientErrorClassifier(func(err error) bool { return errors.Is(err, errNotFound) })
	registry.AddClientErrorClassifier(func(err error) bool { return errors.Is(err, errors.ErrUnsupported) })
	times(1, p, failWith(wrapped))
	times(1, p, failWith(errors.ErrUnsupported))
	assert.Equal(t, 1, breaker.Stats().Calls, "policies that are there already learn it too")
	times(1, p, fail)
	assert.Equal(t, 2, breaker.Stats().Calls)
}

func TestARegistryTellsWhichErrorsItTakesForTheCallersFault(t *testing.T) {
	registry := newRegistry(t, policy.Config{IsClientError: func(err error) bool { return err == errNotFound }})
	for _, err := range []error{
		errNotFound, fmt.Errorf("quotes: %w", errNotFound), policy.AsClientError(errDown), &policy.ResponseError{Status: 404},
	} {
		assert.True(t, registry.IsClientError(err), "%v", err)
	}
	for _, err := range []error{
		nil, errDown, &policy.ResponseError{Status: 429}, &policy.Error{Kind: policy.KindTimeout, Cause: errNotFound},
		errors.Join(errNotFound, &policy.Error{Kind: policy.KindCircuitOpen}), policy.Permanent(errNotFound),
	} {
		assert.False(t, registry.IsClientError(err), "%v", err)
	}
}

func TestAClassifierIsAskedAboutEachErrorOfAChain(t *testing.T) {
	bad := mistakes{"no street"}
	registry := newRegistry(t, policy.Config{IsClientError: func(err error) bool {
		_, is := err.(mistakes) // without errors.As
		return is
	}})
	p, err := registry.New("carrier", policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}})
	require.NoError(t, err)
	breaker, _ := registry.CircuitBreaker("carrier")
	times(1, p, failWith(errors.Join(errDown, fmt.Errorf("quotes: %w", bad))))
	assert.Zero(t, breaker.Stats().Calls)
	assert.Panics(t, func() { registry.AddClientErrorClassifier(nil) })
}

// always is a policy whose three funcs say yes to everything they are asked about.
func always(t *testing.T, mode policy.TimeoutMode, asked *[]string) (*policy.Policy, *policy.CircuitBreaker) {
	t.Helper()
	retry := retrySpec(2, 0)
	retry.RetryIf = func(error, int) bool { *asked = append(*asked, "retry"); return true }
	p, registry := newPolicy(t, policy.Spec{
		Timeout: timeoutSpec(time.Second, mode),
		Retry:   retry,
		CircuitBreaker: &policy.CircuitBreakerSpec{RecordIf: func(error) bool {
			*asked = append(*asked, "record")
			return true
		}},
		Fallback: &policy.FallbackSpec{Func: answer, FallbackIf: func(error) bool { *asked = append(*asked, "fallback"); return true }},
	})
	breaker, _ := registry.CircuitBreaker("carrier")
	return p, breaker
}

func TestUsersFuncsReplaceTheTableForErrorsOfTheFunction(t *testing.T) {
	for name, err := range map[string]error{
		"a failure": errDown, "permanent": policy.Permanent(errDown), "a client error": statusCode(404),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				p, breaker := always(t, policy.Enforced, &asked)
				value, _ := policy.Execute(t.Context(), p, failWith(err))
				assert.Equal(t, []string{"record", "retry", "record", "fallback"}, asked)
				assert.Equal(t, 2, breaker.Stats().Failures)
				assert.Equal(t, "flat rate", value)
			})
		})
	}
}

func TestUsersFuncsAreNotAskedAboutACancelledCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		p, breaker := always(t, policy.Enforced, &asked)
		ctx, cancel := context.WithCancel(t.Context())
		err := run(ctx, p, func(context.Context) (string, error) { cancel(); return "", errDown })
		assert.Same(t, errDown, err)
		assert.Empty(t, asked)
		assert.Zero(t, breaker.Stats().Calls)
	})
}

func TestOnlyTheFallbackIsAskedAboutRejectionsAndPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		p, breaker := always(t, policy.Enforced, &asked)
		times(1, p, failWith(&policy.Error{Kind: policy.KindRateLimited}))
		assert.Equal(t, []string{"fallback"}, asked)
		assert.Zero(t, breaker.Stats().Calls)
		breaker.Trip()
		times(1, p, fail)
		assert.Equal(t, []string{"fallback", "fallback"}, asked)
		breaker.Reset()
		times(1, p, func(context.Context) (string, error) { panic("boom") })
		assert.Equal(t, []string{"fallback", "fallback", "fallback"}, asked)
		assert.Equal(t, 1, breaker.Stats().Failures)
	})
}

func TestUsersFuncsThatSayNoAreBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retry := retrySpec(2, 0)
		retry.RetryIf = func(error, int) bool { return false }
		p, registry := newPolicy(t, policy.Spec{
			Retry:          retry,
			CircuitBreaker: &policy.CircuitBreakerSpec{RecordIf: func(error) bool { return false }},
			Fallback:       &policy.FallbackSpec{Func: answer, FallbackIf: func(error) bool { return false }},
		})
		breaker, _ := registry.CircuitBreaker("carrier")
		assert.Same(t, errDown, run(t.Context(), p, fail))
		assert.Zero(t, breaker.Stats().Calls)
		breaker.Trip()
		assert.ErrorIs(t, run(t.Context(), p, fail), policy.ErrCircuitOpen)
	})
}

func TestMarksKeepTextAndChain(t *testing.T) {
	err := policy.AsClientError(policy.WithRetryAfter(policy.Permanent(errDown), time.Second))
	assert.Equal(t, "carrier down", err.Error())
	assert.ErrorIs(t, err, errDown)
	assert.NoError(t, policy.AsClientError(nil))
	assert.NoError(t, policy.WithRetryAfter(nil, time.Second))
	assert.Same(t, errDown, policy.WithRetryAfter(errDown, 0))
	assert.Same(t, errDown, policy.WithRetryAfter(errDown, -time.Second))
}
