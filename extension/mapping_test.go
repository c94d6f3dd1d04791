package extension_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// onTheWire is the body of a response to "{ text }" whose field failed.
func onTheWire(message, extensions string) string {
	return `{"errors":[{"message":"` + message + `","path":["text"],"locations":[{"line":1,"column":3}]` + extensions + `}],"data":{"text":null}}`
}

const timeoutOnTheWire = `{"errors":[{"message":"The operation timed out","path":["text"],` +
	`"locations":[{"line":1,"column":3}],"extensions":{"code":"TIMEOUT","httpStatus":504}}],"data":{"text":null}}`

func TestTimeoutOnTheWire(t *testing.T) {
	for name, spec := range map[string]policy.TimeoutSpec{
		"enforced":    {Duration: new(time.Second)},
		"cooperative": {Duration: new(time.Second), Mode: new(policy.Cooperative)},
		"total":       {Total: new(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := h.protect(textStub(hanging), newRegistry(t, nil), underSpec(policy.Spec{Timeout: &spec}))
				require.Equal(t, timeoutOnTheWire, rawPost(t.Context(), t, server, `{ text }`))
			})
		})
	}
}

func TestTimeoutOfAResolverThatIgnoresItsContextOnTheWire(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		ends := make(chan struct{})
		defer close(ends)
		server := h.protect(textStub(func(context.Context) (*string, error) { <-ends; return nil, nil }), newRegistry(t, nil),
			underSpec(policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}))
		require.Equal(t, timeoutOnTheWire, rawPost(t.Context(), t, server, `{ text }`))
	})
}

func TestOpenCircuitOnTheWireTellsWholeSecondsUntilAProbeMayPass(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.protect(textStub(failing(errors.New("down"))), newRegistry(t, nil), underSpec(policy.Spec{
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1), OpenDuration: new(30 * time.Second)},
		}))
		require.Equal(t, onTheWire("down", ""), rawPost(t.Context(), t, server, `{ text }`))
		rejected := func(seconds int) {
			t.Helper()
			require.Equal(t, onTheWire("Service temporarily unavailable",
				fmt.Sprintf(`,"extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":%d}`, seconds)),
				rawPost(t.Context(), t, server, `{ text }`))
		}
		rejected(30)
		time.Sleep(time.Millisecond)
		rejected(30)
		time.Sleep(999 * time.Millisecond)
		rejected(29)
		time.Sleep(28*time.Second + 999*time.Millisecond)
		rejected(1)
		time.Sleep(time.Millisecond)
		require.Equal(t, onTheWire("down", ""), rawPost(t.Context(), t, server, `{ text }`), "the probe")
	})
}

func TestWhileAProbeRunsAClientIsToComeBackInASecond(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"carrier": {CircuitBreaker: &policy.CircuitBreakerSpec{OpenDuration: new(30 * time.Second)}}})
		server := h.protect(textStub(hanging), registry, underPreset("Query.text", "carrier"))
		breaker, _ := registry.CircuitBreaker("carrier")
		breaker.Trip()
		time.Sleep(30 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go testgraph.Post(ctx, t, server, `{ text }`)
		synctest.Wait()
		require.Equal(t, onTheWire("Service temporarily unavailable", `,"extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":1}`),
			rawPost(t.Context(), t, server, `{ text }`))
	})
}

func TestFullBulkheadOnTheWireTellsNoTimeToComeBack(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.protect(textStub(hanging), newRegistry(t, nil), underSpec(policy.Spec{
			Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1), QueueTimeout: new(time.Second)},
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go testgraph.Post(ctx, t, server, `{ text }`)
		synctest.Wait()
		const want = `,"extensions":{"code":"BULKHEAD_FULL","httpStatus":503}`
		began := time.Now()
		require.Equal(t, onTheWire("Server is at capacity", want), rawPost(t.Context(), t, server, `{ text }`))
		require.Equal(t, time.Second, time.Since(began), "queue timeout")
	})
}

func TestRateLimitOnTheWireTellsWholeSecondsUntilAToken(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.protect(textStub(answering("up")), newRegistry(t, nil), underSpec(policy.Spec{
			RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(90 * time.Second)},
		}))
		require.Equal(t, `{"data":{"text":"up"}}`, rawPost(t.Context(), t, server, `{ text }`))
		for _, step := range []struct {
			wait    time.Duration
			seconds int
		}{{0, 90}, {500 * time.Millisecond, 90}, {time.Minute, 30}, {29400 * time.Millisecond, 1}} {
			time.Sleep(step.wait)
			require.Equal(t, onTheWire("Rate limit of a dependency exceeded",
				fmt.Sprintf(`,"extensions":{"code":"RATE_LIMITED","httpStatus":503,"retryAfter":%d}`, step.seconds)),
				rawPost(t.Context(), t, server, `{ text }`))
		}
	})
}

func TestAPolicyErrorOfAnUnannotatedResolverIsMapped(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, nil)
		quick, err := registry.New("quick", policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}})
		require.NoError(t, err)
		server := h.protect(textStub(func(ctx context.Context) (*string, error) {
			text, err := policy.Execute(ctx, quick, hanging)
			if err != nil {
				err = fmt.Errorf("carrier.internal:8443: %w", err)
			}
			return text, err
		}), registry)
		require.Equal(t, timeoutOnTheWire, rawPost(t.Context(), t, server, `{ text }`))
	})
}

// secret is a GraphQL error of a dependency that no client is to see.
func secret() error {
	return &gqlerror.Error{Message: "secret", Extensions: map[string]any{"code": "SECRET", "http": map[string]any{"status": 500}}}
}

// hangingWith returns err once its time is up, which makes it the timeout's cause.
func hangingWith(err error) func(context.Context) (*string, error) {
	return func(ctx context.Context) (*string, error) {
		_ = untilCancelled(ctx)
		return nil, err
	}
}

func TestCausesDoNotReachTheWire(t *testing.T) {
	timeout := policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}
	open := policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1)}, Retry: &policy.RetrySpec{}}
	fallbackError := func(err error) extension.Option {
		return extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return nil, err })
	}
	const named = `policy \"Query.text\" for Query.text: `
	for name, row := range map[string]struct {
		text             func(context.Context) (*string, error)
		options          []extension.Option
		mapped, unmapped string
	}{
		"of a timeout": {
			hangingWith(secret()), []extension.Option{underSpec(timeout)},
			timeoutOnTheWire, onTheWire(named+`the operation timed out`, ""),
		},
		"of a timeout, in plain text": {
			hangingWith(errors.New("secret")), []extension.Option{underSpec(timeout)},
			timeoutOnTheWire, onTheWire(named+`the operation timed out`, ""),
		},
		"of a rejection": {
			failing(secret()), []extension.Option{underSpec(open)},
			onTheWire("Service temporarily unavailable", `,"extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":30}`),
			onTheWire(named+`the circuit is open`, ""),
		},
		"of a fallback's own error": {
			failing(secret()), []extension.Option{fallbackError(errors.New("no cached text"))},
			onTheWire("no cached text", ""), onTheWire("no cached text", ""),
		},
		"of a fallback's own GraphQL error": {
			failing(secret()), []extension.Option{fallbackError(&gqlerror.Error{Message: "stale", Extensions: map[string]any{"code": "STALE"}})},
			onTheWire("stale", `,"extensions":{"code":"STALE"}`), onTheWire("stale", `,"extensions":{"code":"STALE"}`),
		},
		"of the policy error that a fallback returned": {
			failing(errors.New("down")), []extension.Option{fallbackError(&policy.Error{Kind: policy.KindTimeout, Policy: "cache", Cause: secret()})},
			timeoutOnTheWire, onTheWire(`policy \"cache\": the operation timed out`, ""),
		},
		"of a fallback's error that the resolver wrapped": {
			failing(fmt.Errorf("quotes: %w", &policy.FallbackError{Err: errors.New("no cached text"), Cause: secret()})), nil,
			onTheWire("quotes: no cached text", ""), onTheWire("quotes: no cached text", ""),
		},
		"of a policy error beside a GraphQL error": {
			failing(errors.Join(&policy.Error{Kind: policy.KindTimeout, Cause: secret()}, gqlerror.Errorf("own"))), nil,
			timeoutOnTheWire, onTheWire("own", ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := h.protect(textStub(row.text), newRegistry(t, nil), row.options...)
				require.Equal(t, row.mapped, rawPost(t.Context(), t, server, `{ text }`))
				server = h.protect(textStub(row.text), newRegistry(t, nil), append(row.options, extension.WithoutErrorMapping())...)
				require.Equal(t, row.unmapped, rawPost(t.Context(), t, server, `{ text }`))
			})
		})
	}
}

func TestWithoutErrorMappingThePresenterGetsThePolicysError(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := h.protect(textStub(hangingWith(secret())), newRegistry(t, nil), extension.WithoutErrorMapping(),
			underSpec(policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}))
		server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
			failure, ok := errors.AsType[*policy.Error](err)
			if !ok {
				t.Errorf("no policy error in %v", err)
				return nil
			}
			return gqlerror.WrapPath(graphql.GetPath(ctx), fmt.Errorf("%s ran out of time", failure.Source))
		})
		require.Equal(t, `{"errors":[{"message":"Query.text ran out of time","path":["text"]}],"data":{"text":null}}`,
			rawPost(t.Context(), t, server, `{ text }`))
	})
}

func TestThePresenterMapsWhatTheMiddlewareDoesNotSee(t *testing.T) {
	stub := textStub(func(ctx context.Context) (*string, error) {
		graphql.AddError(ctx, fmt.Errorf("stock: %w", &policy.Error{Kind: policy.KindTimeout, Policy: "stock", Cause: secret()}))
		graphql.AddError(ctx, &policy.FallbackError{Err: errors.New("no cached text"), Cause: secret()})
		return new("partial"), nil
	})
	stub.QueryResolver.Items = stubOf("1", "2").QueryResolver.Items
	stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
		return []*int{new(7), nil}, graphql.BatchErrorList{nil, &policy.Error{Kind: policy.KindTimeout, Policy: "stock", Cause: errors.New("secret")}}
	}
	for name, options := range map[string][]extension.Option{
		"unannotated":     nil,
		"under a policy":  {underPreset("Query.text", "dependency"), underPreset("Item.stock", "dependency")},
		"without mapping": {extension.WithoutErrorMapping()},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := h.protect(stub, newRegistry(t, nil), options...)
				server.SetErrorPresenter(gqlerrors.Presenter(func(ctx context.Context, err error) *gqlerror.Error {
					presented := graphql.DefaultErrorPresenter(ctx, err)
					if presented.Path == nil { // gqlgen wrote it into the cause
						presented.Path = graphql.GetPath(ctx)
					}
					return presented
				}))
				require.Equal(t, `{"errors":[`+
					`{"message":"The operation timed out","path":["text"],"extensions":{"code":"TIMEOUT","httpStatus":504}},`+
					`{"message":"no cached text","path":["text"]}],"data":{"text":"partial"}}`,
					rawPost(t.Context(), t, server, `{ text }`))
				require.Equal(t, `{"errors":[`+
					`{"message":"The operation timed out","path":["items",1,"stock"],"extensions":{"code":"TIMEOUT","httpStatus":504}}],`+
					`"data":{"items":[{"stock":7},{"stock":null}]}}`,
					rawPost(t.Context(), t, server, `{ items { stock } }`))
			})
		})
	}
}

// outOfStock is an error type of an application.
type outOfStock struct{ left int }

func (e *outOfStock) Error() string { return fmt.Sprintf("only %d left", e.left) }

func TestAResolversOwnErrorReachesThePresenterAsItIs(t *testing.T) {
	own := &outOfStock{left: 2}
	for name, err := range map[string]error{"plain": own, "permanent": policy.Permanent(own), "of a client": policy.AsClientError(own)} {
		for mode, options := range map[string][]extension.Option{
			"unannotated": nil,
			"enforced":    {underPreset("Query.text", "dependency")},
			"cooperative": {underSpec(policy.Spec{Retry: &policy.RetrySpec{Attempts: new(1)}})},
		} {
			t.Run(name+" "+mode, func(t *testing.T) {
				underEachHook(t, func(t *testing.T, h hook) {
					server := h.protect(textStub(failing(err)), newRegistry(t, nil), options...)
					presented := 0
					server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
						presented++
						found, _ := errors.AsType[*outOfStock](err)
						if found != own {
							t.Errorf("the presenter got %v", err)
						}
						return graphql.DefaultErrorPresenter(ctx, err)
					})
					require.Equal(t, onTheWire("only 2 left", ""), rawPost(t.Context(), t, server, `{ text }`))
					require.Equal(t, 1, presented)
				})
			})
		}
	}
}

// gqlgen writes path and location into a resolver's GraphQL error, once. That is the resolver's
// affair: the extension passes the error on, so a value that two fields share keeps the first
// one's.
func TestAGraphQLErrorThatTwoFieldsShareKeepsThePathOfTheFirst(t *testing.T) {
	shared := &gqlerror.Error{Message: "closed", Extensions: map[string]any{"code": "CLOSED"}}
	for name, options := range map[string][]extension.Option{
		"unannotated": nil, "under a policy": {underPreset("Mutation.save", "dependency")},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				shared.Path, shared.Locations = nil, nil
				server := h.protect(textStub(failing(shared)), newRegistry(t, nil), options...)
				const closed = `{"message":"closed","path":["a"],"locations":[{"line":1,"column":12}],"extensions":{"code":"CLOSED"}}`
				require.Equal(t, `{"errors":[`+closed+`,`+closed+`],"data":{"a":null,"b":null}}`,
					rawPost(t.Context(), t, server, `mutation { a: save b: save }`))
			})
		})
	}
}

func TestAPolicyErrorThatTwoFieldsShareHasThePathOfEach(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		shared := &policy.Error{Kind: policy.KindBulkheadFull, Policy: "pool"}
		server := h.protect(textStub(failing(shared)), newRegistry(t, nil))
		const full = `"extensions":{"code":"BULKHEAD_FULL","httpStatus":503}}`
		require.Equal(t, `{"errors":[`+
			`{"message":"Server is at capacity","path":["a"],"locations":[{"line":1,"column":12}],`+full+`,`+
			`{"message":"Server is at capacity","path":["b"],"locations":[{"line":1,"column":20}],`+full+
			`],"data":{"a":null,"b":null}}`, rawPost(t.Context(), t, server, `mutation { a: save b: save }`))
	})
}
