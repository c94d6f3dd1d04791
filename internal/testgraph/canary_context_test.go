package testgraph

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

func TestFact1ContextHandedToNextBecomesTheChildrens(t *testing.T) {
	stub := stubWithItems("1")
	var seen string
	stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
		seen = markOf(ctx)
		return nil, nil
	}
	server := NewServer(stub)
	server.AroundFields(aroundField("Query", "item", func(ctx context.Context, next graphql.Resolver) (any, error) {
		return next(marked(ctx, "attempt"))
	}))
	Post(t.Context(), t, server, `{ item(id: "1") { probe } }`)
	require.Equal(t, "attempt", seen, "fact 1: children no longer run on the context handed to next")
}

func TestFact1LastContextHandedToNextWins(t *testing.T) {
	stub := stubWithItems("1")
	var seen string
	stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
		seen = markOf(ctx)
		return nil, nil
	}
	server := NewServer(stub)
	server.AroundFields(aroundField("Query", "item", func(ctx context.Context, next graphql.Resolver) (any, error) {
		first, err := next(marked(ctx, "first"))
		_, _ = next(marked(ctx, "second"))
		return first, err
	}))
	Post(t.Context(), t, server, `{ item(id: "1") { probe } }`)
	require.Equal(t, "second", seen,
		"facts 1 and 3: the children's context is no longer that of the last call of next, whoever's result is used")
}

func TestFact1ErrorIsReportedOnTheContextHandedToNext(t *testing.T) {
	stub := stubWithItems("1")
	stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return nil, errors.New("down") }
	server := NewServer(stub)
	server.AroundFields(aroundField("Query", "item", func(ctx context.Context, next graphql.Resolver) (any, error) {
		return next(marked(ctx, "attempt"))
	}))
	var presentedOn string
	server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
		presentedOn = markOf(ctx)
		return graphql.DefaultErrorPresenter(ctx, err)
	})
	response := Post(t.Context(), t, server, `{ item(id: "1") { id } }`)
	require.Len(t, response.Errors, 1)
	require.Equal(t, "attempt", presentedOn, "fact 1: a field's error is no longer reported on the context handed to next")
}

func TestFact1CancelAfterNextCancelsEveryChild(t *testing.T) {
	stub := stubWithItems("1")
	var childError error
	stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
		childError = ctx.Err()
		return nil, nil
	}
	server := NewServer(stub)
	server.AroundFields(aroundField("Query", "item", cancelAfter))
	Post(t.Context(), t, server, `{ item(id: "1") { probe } }`)
	require.ErrorIs(t, childError, context.Canceled, "fact 1: a cancel deferred around next no longer reaches the children")
}

func cancelAfter(ctx context.Context, next graphql.Resolver) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return next(ctx)
}

func TestFact1FreshResponseContextAroundNextSwallowsTheError(t *testing.T) {
	stub := stubWithItems("1")
	stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return nil, errors.New("down") }
	server := NewServer(stub)
	server.AroundFields(aroundField("Query", "item", func(ctx context.Context, next graphql.Resolver) (any, error) {
		return next(graphql.WithFreshResponseContext(ctx))
	}))
	response := Post(t.Context(), t, server, `{ item(id: "1") { id } }`)
	require.Equal(t, map[string]any{"item": nil}, response.Data)
	require.Empty(t, response.Errors, "fact 1: a fresh response context around next no longer swallows the field's error")
}

// A deferred group gives its result up once its context is done, and the
// response waits for it all the same. So this looks from outside: of two
// groups, the one on a live context is the only one ever delivered, and the
// server still announces more.
func TestFact1DeferredGroupOnACancelledContextIsNeverDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := stubWithItems("1")
		live := make(chan struct{})
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { return nil, nil }
		stub.ItemResolver.Probe = func(context.Context, *model.Item) (*string, error) {
			<-live
			return nil, nil
		}
		exec := executor.New(NewSchema(stub))
		exec.AroundFields(aroundField("Query", "item", cancelAfter))
		ctx := graphql.StartOperationTrace(t.Context())
		operation, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: `{
			item(id: "1") { ... @defer(label: "cancelled") { slow } }
			items { ... @defer(label: "live") { probe } }
		}`})
		require.Empty(t, errs)
		responses, ctx := exec.DispatchOperation(ctx, operation)

		require.True(t, *responses(ctx).HasNext)
		synctest.Wait()
		close(live)
		delivered := responses(ctx)
		require.Equal(t, "live", delivered.Label, "fact 1: a deferred group on a cancelled context is delivered now")
		require.True(t, *delivered.HasNext, "fact 1: gqlgen no longer waits for a deferred group on a cancelled context")
	})
}

func TestFact2ErrorsAndExtensionsOfAFailedCallStayInTheResponse(t *testing.T) {
	stub := &Stub{}
	calls := 0
	stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
		if calls++; calls == 1 {
			graphql.AddErrorf(ctx, "from the first call")
			graphql.RegisterExtension(ctx, "call", 1)
			return nil, errors.New("down")
		}
		return new("from the second call"), nil
	}
	server := NewServer(stub)
	server.AroundFields(aroundField("Query", "text", retryOnce))
	response := Post(t.Context(), t, server, `{ text }`)
	require.Equal(t, map[string]any{"text": "from the second call"}, response.Data)
	require.Len(t, response.Errors, 1, "fact 2: an error added by a call of next no longer stays in the response")
	require.Equal(t, "from the first call", response.Errors[0].Message)
	require.Equal(t, map[string]any{"call": 1.0}, response.Extensions,
		"fact 2: an extension registered by a call of next no longer stays in the response")
}

func TestFact2RegisteringAnExtensionTwicePanics(t *testing.T) {
	stub := &Stub{}
	stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
		graphql.RegisterExtension(ctx, "call", 1)
		return nil, errors.New("down")
	}
	server := NewServer(stub)
	server.AroundFields(aroundField("Query", "text", retryOnce))
	response := Post(t.Context(), t, server, `{ text }`)
	require.Len(t, response.Errors, 1)
	require.Equal(t, "panic: extension already registered for key call", response.Errors[0].Message,
		"fact 2: registering the same extension key again no longer panics")
}

func retryOnce(ctx context.Context, next graphql.Resolver) (any, error) {
	if res, err := next(ctx); err == nil {
		return res, nil
	}
	return next(ctx)
}

// An attempt that may be abandoned has a field context of its own, which is made field by field.
func TestAFieldContextHasNoFieldsThatAreNotKnown(t *testing.T) {
	var names []string
	for field := range reflect.TypeFor[graphql.FieldContext]().Fields() {
		names = append(names, field.Name)
	}
	require.Equal(t, []string{
		"Parent", "Object", "Args", "Field", "Index", "Result", "IsMethod", "IsResolver", "NonNull", "Child",
	}, names)
}
