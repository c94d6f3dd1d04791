package extension_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// thrice is a policy of three attempts, one right after the other.
func thrice() policy.Spec {
	return policy.Spec{
		Timeout: &policy.TimeoutSpec{Duration: new(time.Second)},
		Retry:   &policy.RetrySpec{Backoff: &policy.BackoffSpec{Delay: new(time.Duration(0))}},
	}
}

func TestWhereAFailedResolverIsCalledAgain(t *testing.T) {
	underThrice := func(coordinate string) extension.Option {
		return extension.WithField(coordinate, extension.Field{Preset: "thrice"})
	}
	idempotent := func(coordinate string) extension.Option {
		return extension.WithField(coordinate, extension.Field{Preset: "thrice", Idempotent: new(true)})
	}
	for name, row := range map[string]struct {
		option extension.Option
		query  string
		calls  int32
	}{
		"a query":                                  {underThrice("Query.text"), `{ text }`, 3},
		"a named query":                            {underThrice("Query.text"), `query Q { text }`, 3},
		"a mutation":                               {underThrice("Mutation.save"), `mutation { save }`, 1},
		"an idempotent mutation":                   {idempotent("Mutation.save"), `mutation { save }`, 3},
		"a field below a query":                    {underThrice("Item.slow"), `{ item(id: 1) { slow } }`, 3},
		"a field below a mutation":                 {underThrice("Item.slow"), `mutation { create(name: "a") { slow } }`, 1},
		"an idempotent field below a mutation":     {idempotent("Item.slow"), `mutation { create(name: "a") { slow } }`, 3},
		"the start of a subscription":              {underThrice("Subscription.maybeTicks"), `subscription { maybeTicks { n } }`, 1},
		"the start of an idempotent subscription":  {idempotent("Subscription.maybeTicks"), `subscription { maybeTicks { n } }`, 3},
		"a field below a subscription":             {underThrice("Tick.detail"), `subscription { ticks { detail } }`, 1},
		"an idempotent field below a subscription": {idempotent("Tick.detail"), `subscription { ticks { detail } }`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				var calls atomic.Int32
				fail := func(context.Context) (*string, error) { calls.Add(1); return nil, errors.New("down") }
				stub := textStub(fail)
				item := &model.Item{ID: "1"}
				stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return item, nil }
				stub.MutationResolver.Create = func(context.Context, string) (*model.Item, error) { return item, nil }
				stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { return fail(ctx) }
				stub.SubscriptionResolver.MaybeTicks = func(ctx context.Context) (<-chan *model.Tick, error) {
					_, err := fail(ctx)
					return nil, err
				}
				stub.SubscriptionResolver.Ticks = func(context.Context) (<-chan *model.Tick, error) {
					ticks := make(chan *model.Tick, 1)
					ticks <- &model.Tick{}
					close(ticks)
					return ticks, nil
				}
				stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) { return fail(ctx) }

				server := h.protect(stub, newRegistry(t, presets{"thrice": thrice()}), row.option)
				testgraph.Stream(t.Context(), t, server, row.query)
				require.Equal(t, row.calls, calls.Load())
			})
		})
	}
}

func TestAnnotatedMutationsAreRetriedOnlyWhereIdempotent(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		calls := map[string]int{}
		stub := &testgraph.Stub{}
		stub.MutationResolver.Book = func(context.Context, string) (*string, error) { calls["book"]++; return nil, errors.New("down") }
		stub.MutationResolver.Save = func(context.Context, *int) (*string, error) { calls["save"]++; return nil, errors.New("down") }
		variant := variantOf(t, testgraph.NewSchema(stub).Schema(), "save(n: Int): String", `save(n: Int): String @resilience(preset: "dependency")`)
		server := testgraph.Serve(h.withSchema(stub, variant))
		server.Use(extension.New(newRegistry(t, presets{"dependency": thrice()})))

		response := testgraph.Post(t.Context(), t, server, `mutation { book(ref: "1") save }`)
		require.Len(t, response.Errors, 2)
		require.Equal(t, map[string]int{"book": 3, "save": 1}, calls)
	})
}

func TestMutationsRunOneAfterTheOtherWhateverTheirTimeouts(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		var order []string // no lock: the mutations must not overlap
		stub := &testgraph.Stub{}
		stub.MutationResolver.Save = func(context.Context, *int) (*string, error) {
			order = append(order, "save begins")
			time.Sleep(10 * time.Second) // whatever its context says
			order = append(order, "save ends")
			return new("late"), nil
		}
		stub.MutationResolver.Remove = func(context.Context, *int) (*string, error) {
			order = append(order, "remove")
			return new("removed"), nil
		}
		server := h.protect(stub, newRegistry(t, nil), underPreset("Mutation.save", "dependency"), underPreset("Mutation.remove", "dependency"))
		began := time.Now()
		require.Equal(t, `{"errors":[{"message":"The operation timed out","path":["save"],"locations":[{"line":1,"column":12}],`+
			`"extensions":{"code":"TIMEOUT","httpStatus":504}}],"data":{"save":null,"remove":"removed"}}`,
			rawPost(t.Context(), t, server, `mutation { save remove }`))
		require.Equal(t, []string{"save begins", "save ends", "remove"}, order)
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

func TestAnEnforcedMutationIsNotWaitedFor(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		ends := make(chan struct{})
		defer close(ends)
		stub := &testgraph.Stub{}
		stub.MutationResolver.Save = func(context.Context, *int) (*string, error) { <-ends; return nil, nil }
		server := h.protect(stub, newRegistry(t, nil), extension.WithField("Mutation.save", extension.Field{
			Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Enforced)}},
		}))
		began := time.Now()
		response := testgraph.Post(t.Context(), t, server, `mutation { save }`)
		require.Equal(t, "TIMEOUT", response.Errors[0].Extensions["code"])
		require.Less(t, time.Since(began), 2*time.Second)
	})
}

func TestAFieldBelowAMutationIsEnforced(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		ends := make(chan struct{})
		defer close(ends)
		stub := &testgraph.Stub{}
		stub.MutationResolver.Create = func(context.Context, string) (*model.Item, error) { return &model.Item{ID: "1"}, nil }
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { <-ends; return nil, nil }
		server := h.protect(stub, newRegistry(t, nil), underPreset("Item.slow", "dependency"))
		response := testgraph.Post(t.Context(), t, server, `mutation { create(name: "a") { slow } }`)
		require.Equal(t, "TIMEOUT", response.Errors[0].Extensions["code"])
	})
}

// code is how some servers type the codes of their errors.
type code string

func TestHowADependencysErrorsAreTreated(t *testing.T) {
	status := func(status int, header ...string) error {
		response := &http.Response{StatusCode: status, Header: http.Header{}}
		for i := 0; i < len(header); i += 2 {
			response.Header.Set(header[i], header[i+1])
		}
		return policy.CheckResponse(response)
	}
	graphQL := func(errorCode string) error {
		return &gqlerror.Error{Message: "no", Extensions: map[string]any{"code": errorCode}}
	}
	for name, row := range map[string]struct {
		err             error
		calls, failures int
		least           time.Duration
	}{
		"422 is the client's fault":         {status(http.StatusUnprocessableEntity), 1, 0, 0},
		"404 is the client's fault":         {status(http.StatusNotFound), 1, 0, 0},
		"408 is a failure":                  {status(http.StatusRequestTimeout), 2, 2, 0},
		"429 waits as long as it asks for":  {status(http.StatusTooManyRequests, "Retry-After", "1"), 2, 2, time.Second},
		"429 that asks for too long":        {status(http.StatusTooManyRequests, "Retry-After", "60"), 1, 1, 0},
		"503 is a failure":                  {status(http.StatusServiceUnavailable), 2, 2, 0},
		"any error is a failure":            {errors.New("down"), 2, 2, 0},
		"a permanent error":                 {policy.Permanent(errors.New("down")), 1, 1, 0},
		"NOT_FOUND is the client's fault":   {graphQL("NOT_FOUND"), 1, 0, 0},
		"FORBIDDEN is the client's fault":   {graphQL("FORBIDDEN"), 1, 0, 0},
		"an own code of a client's fault":   {graphQL("SOLD_OUT"), 1, 0, 0},
		"a code of a type of its own":       {&gqlerror.Error{Extensions: map[string]any{"code": code("NOT_FOUND")}}, 1, 0, 0},
		"a list of GraphQL errors":          {gqlerror.List{gqlerror.Errorf("no"), graphQL("NOT_FOUND").(*gqlerror.Error)}, 1, 0, 0},
		"INTERNAL_SERVER_ERROR is our own":  {graphQL("INTERNAL_SERVER_ERROR"), 2, 2, 0},
		"a GraphQL error without a code":    {gqlerror.Errorf("no"), 2, 2, 0},
		"a client's error among joined":     {errors.Join(errors.New("down"), graphQL("NOT_FOUND")), 1, 0, 0},
		"a rejection of another policy":     {&policy.Error{Kind: policy.KindCircuitOpen}, 1, 0, 0},
		"a timeout of another policy":       {&policy.Error{Kind: policy.KindTimeout}, 2, 2, 0},
		"another's context that was closed": {context.Canceled, 2, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				var calls []time.Time
				registry := newRegistry(t, presets{"carrier": {
					Retry: &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{
						Delay: new(10 * time.Millisecond), MaxDelay: new(2 * time.Second), Factor: new(1.0),
					}},
					CircuitBreaker: &policy.CircuitBreakerSpec{},
				}})
				server := h.protect(textStub(func(context.Context) (*string, error) {
					calls = append(calls, time.Now())
					return nil, row.err
				}), registry, underPreset("Query.text", "carrier"), extension.WithClientErrorCodes("SOLD_OUT"))

				require.NotEmpty(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors)
				require.Len(t, calls, row.calls)
				require.GreaterOrEqual(t, calls[len(calls)-1].Sub(calls[0]), row.least)
				breaker, _ := registry.CircuitBreaker("carrier")
				require.Equal(t, row.failures, breaker.Stats().Failures)
				require.Equal(t, row.failures, breaker.Stats().Calls)
			})
		})
	}
}

func TestAnAddedErrorIsReportedOnceWhenTheCallerGoesBeforeTheNextAttempt(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		ctx, cancel := context.WithCancel(t.Context())
		spec := enforced(time.Second)
		spec.Retry = &policy.RetrySpec{Backoff: &policy.BackoffSpec{Delay: new(time.Second), Jitter: new(policy.JitterNone)}}
		server := h.protect(textStub(func(ctx context.Context) (*string, error) {
			graphql.AddError(ctx, errors.New("added"))
			time.AfterFunc(time.Second/2, cancel)
			return nil, nil
		}), newRegistry(t, nil), underSpec(spec))
		require.Equal(t, []string{"text: added"}, messages(testgraph.Post(ctx, t, server, `{ text }`)))
	})
}
