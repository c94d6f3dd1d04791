package testgraph

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

// abandonNext is a middleware that leaves a call of next behind and returns
// result. The call writes gqlgen's variable at any time after; should gqlgen
// read it for result, the race detector tells.
func abandonNext(abandoned *sync.WaitGroup, result any) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		abandoned.Go(func() { _, _ = next(marked(ctx, "abandoned")) })
		return result, nil
	}
}

func TestFact3ResultsThatEndAFieldWithoutTouchingItsContext(t *testing.T) {
	for name, test := range map[string]struct {
		object, field string
		markNonNull   bool
		result        any
		query         string
		want          map[string]any
	}{
		"nil for nullable": {
			object: "Query", field: "items", result: nil,
			query: `{ items(n: 1) { id } }`, want: map[string]any{"items": nil},
		},
		"Null for nullable": {
			object: "Query", field: "items", result: graphql.Null,
			query: `{ items(n: 1) { id } }`, want: map[string]any{"items": nil},
		},
		"Null for nullable that the call left behind marks non-null": {
			object: "Query", field: "text", result: graphql.Null,
			query: `{ text }`, want: map[string]any{"text": nil},
		},
		"nil for nullable of type any": {
			object: "Query", field: "any", result: nil,
			query: `{ any }`, want: map[string]any{"any": nil},
		},
		"nil for nullable below the root": {
			object: "Item", field: "quotes", result: nil,
			query: `{ item(id: "1") { quotes { price } } }`, want: map[string]any{"item": map[string]any{"quotes": nil}},
		},
		"Null for non-null": {
			object: "Query", field: "strictText", result: graphql.Null,
			query: `{ strictText }`, want: nil,
		},
		"Null for non-null list below the root": {
			object: "Item", field: "strictQuotes", result: graphql.Null,
			query: `{ item(id: "1") { strictQuotes { price } } }`, want: map[string]any{"item": nil},
		},
		"RequiredNull for nullable marked non-null": {
			object: "Item", field: "quotes", markNonNull: true, result: graphql.RequiredNull,
			query: `{ item(id: "1") { quotes { price } } }`, want: map[string]any{"item": nil},
		},
		"nil for the root of a mutation": {
			object: "Mutation", field: "save", result: nil,
			query: `mutation { save }`, want: map[string]any{"save": nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			stub := stubWithItems("1")
			stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
				graphql.MarkNonNull(ctx)
				return nil, nil
			}
			stub.QueryResolver.Any = func(context.Context) (any, error) { return 1, nil }
			stub.QueryResolver.StrictText = func(context.Context) (string, error) { return "late", nil }
			stub.ItemResolver.Quotes = func(context.Context, *model.Item) ([]*model.Quote, error) { return nil, nil }
			stub.ItemResolver.StrictQuotes = stub.ItemResolver.Quotes
			stub.MutationResolver.Save = func(context.Context, *int) (*string, error) { return nil, nil }
			var abandoned sync.WaitGroup
			server := NewServer(stub)
			if test.markNonNull {
				server.AroundFields(aroundField(test.object, test.field, func(ctx context.Context, next graphql.Resolver) (any, error) {
					graphql.MarkNonNull(ctx)
					return next(ctx)
				}))
			}
			server.AroundFields(aroundField(test.object, test.field, abandonNext(&abandoned, test.result)))
			response := Post(t.Context(), t, server, test.query)
			abandoned.Wait()
			require.Equal(t, test.want, response.Data, "fact 3: this result no longer ends the field with null")
			require.Empty(t, response.Errors, "fact 3: this result no longer ends the field without an error")
		})
	}
}

func TestFact3TypedNilStreamFuncEndsASubscriptionWithTheErrorsAdded(t *testing.T) {
	plain := (func(context.Context) graphql.Marshaler)(nil)
	stub := &Stub{}
	stub.SubscriptionResolver.Ticks = func(context.Context) (<-chan *model.Tick, error) { return nil, nil }
	stub.SubscriptionResolver.MaybeTicks = stub.SubscriptionResolver.Ticks
	products := &federated.Stub{}
	products.SubscriptionResolver.PlainPrices = func(context.Context) (<-chan *model.Product, error) { return nil, nil }
	products.SubscriptionResolver.Prices = func(context.Context) (<-chan graphql.Event[*model.Product], error) { return nil, nil }
	for name, test := range map[string]struct {
		schema graphql.ExecutableSchema
		field  string
		result any
	}{
		"ticks":       {NewSchema(stub), "ticks { n }", plain},
		"maybeTicks":  {NewSchema(stub), "maybeTicks { n }", plain},
		"plainPrices": {NewFederatedSchema(products), "plainPrices { id }", plain},
		"prices": {
			NewFederatedSchema(products), "prices { id }",
			(func(context.Context) (context.Context, graphql.Marshaler))(nil),
		},
	} {
		t.Run(name, func(t *testing.T) {
			var abandoned sync.WaitGroup
			server := Serve(test.schema)
			abandon := abandonNext(&abandoned, test.result)
			server.AroundFields(aroundField("Subscription", name, func(ctx context.Context, next graphql.Resolver) (any, error) {
				graphql.AddErrorf(ctx, "timed out")
				return abandon(ctx, next)
			}))
			events := Stream(t.Context(), t, server, "subscription { "+test.field+" }")
			abandoned.Wait()
			require.Len(t, events, 1, "fact 3: a typed nil stream func no longer ends the subscription")
			require.Len(t, events[0].Errors, 1)
			require.Equal(t, "timed out", events[0].Errors[0].Message)
		})
	}
}

func TestFact3NullIsAValueForAFieldOfGoTypeAny(t *testing.T) {
	server := NewServer(&Stub{})
	server.AroundFields(func(context.Context, graphql.Resolver) (any, error) { return graphql.Null, nil })
	response := Post(t.Context(), t, server, `{ strictAny }`)
	require.Equal(t, map[string]any{"strictAny": map[string]any{}}, response.Data,
		"fact 3: graphql.Null is no longer taken for the value of a field of Go type any")
}

// What runs inside next may block before gqlgen's variable is written: that it
// did run says nothing about the write.
func TestFact3DirectivesAndInnerInterceptorsRunBeforeTheContextIsWritten(t *testing.T) {
	denied := errors.New("denied")
	for name, deny := range map[string]func(*Stub) graphql.FieldMiddleware{
		"directive": func(stub *Stub) graphql.FieldMiddleware {
			stub.HasRole = func(context.Context, any, graphql.Resolver, string) (any, error) { return nil, denied }
			return func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }
		},
		"inner interceptor": func(*Stub) graphql.FieldMiddleware {
			return func(context.Context, graphql.Resolver) (any, error) { return nil, denied }
		},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &Stub{}
			inner := deny(stub)
			server := NewServer(stub)
			server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
				return next(marked(ctx, "attempt"))
			})
			server.AroundFields(inner)
			presentedOn := "nothing"
			server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
				presentedOn = markOf(ctx)
				return graphql.DefaultErrorPresenter(ctx, err)
			})
			Post(t.Context(), t, server, `{ secret }`)
			require.Empty(t, presentedOn, "fact 3: the context is written before the %s runs", name)
		})
	}
}

func TestFact4PanicOnAnotherGoroutineKillsTheProcess(t *testing.T) {
	const inChild = "TESTGRAPH_PANIC_ON_ANOTHER_GOROUTINE"
	if os.Getenv(inChild) != "" {
		server := NewServer(&Stub{})
		var never sync.WaitGroup
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			never.Go(func() { _, _ = next(ctx) })
			never.Wait()
			return nil, nil
		})
		Post(t.Context(), t, server, `{ text }`)
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), inChild+"=1")
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "fact 4: a panic on another goroutine no longer kills the process: %s", output)
	require.Contains(t, string(output), "panic: stub: QueryResolver.Text is not plugged in")
}
