package testgraph

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

func TestFact5DefinitionIsTheInterfacesWhenSelectedThroughOne(t *testing.T) {
	stub := stubWithItems("1")
	stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) { return nil, nil }
	schema := NewSchema(stub)
	types := schema.Schema().Types
	for query, selectedOn := range map[string]string{
		`{ node(id: "1") { slow } }`:                 "Node",
		`{ node(id: "1") { ... on Item { slow } } }`: "Item",
	} {
		var seen *graphql.FieldContext
		server := Serve(schema)
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			if fc := graphql.GetFieldContext(ctx); fc.Field.Name == "slow" {
				seen = fc
			}
			return next(ctx)
		})
		require.Empty(t, Post(t.Context(), t, server, query).Errors)
		require.Equal(t, "Item", seen.Object, "fact 5: FieldContext.Object is no longer the concrete type for %s", query)
		require.Same(t, types[selectedOn].Fields.ForName("slow"), seen.Field.Definition,
			"fact 5: Field.Definition is no longer that of %s for %s", selectedOn, query)
	}
}

func TestFact5IsMethodIsSetForResolversAndBoundMethodsAlone(t *testing.T) {
	stub := &Stub{}
	stub.QueryResolver.Guarded = func(context.Context) (*model.Guarded, error) {
		return &model.Guarded{ComputeFunc: func(context.Context) (*string, error) { return nil, nil }}, nil
	}
	stub.GuardedResolver.Resolved = func(context.Context, *model.Guarded) (*string, error) { return nil, nil }
	type kind struct{ method, resolver bool }
	var mu sync.Mutex
	seen := make(map[string]kind)
	server := NewServer(stub)
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		fc := graphql.GetFieldContext(ctx)
		seen[fc.Object+"."+fc.Field.Name] = kind{fc.IsMethod, fc.IsResolver}
		return next(ctx)
	})
	require.Empty(t, Post(t.Context(), t, server, `{ __typename guarded { __typename resolved computed plain } }`).Errors)
	require.Equal(t, map[string]kind{
		"Query.guarded":    {true, true},
		"Guarded.resolved": {true, true},
		"Guarded.computed": {true, false},
		"Guarded.plain":    {false, false},
	}, seen, "section 3: the fields that pass middleware, or what gqlgen says about them, have changed")
}

func TestFact6DirectivesRunInsideNext(t *testing.T) {
	stub := &Stub{}
	denied := errors.New("denied")
	checks := 0
	stub.HasRole = func(context.Context, any, graphql.Resolver, string) (any, error) {
		checks++
		return nil, denied
	}
	server := NewServer(stub)
	var errs []error
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		for range 2 {
			_, err := next(ctx)
			errs = append(errs, err)
		}
		return nil, nil
	})
	Post(t.Context(), t, server, `{ secret }`)
	require.Equal(t, 2, checks, "fact 6: a directive no longer runs once per call of next")
	require.Equal(t, []error{denied, denied}, errs, "fact 6: a directive's denial is no longer what next returns")
}

func TestFact7BatchIsResolvedOncePerListAndAlias(t *testing.T) {
	stub := stubWithItems("1", "2", "3")
	var calls, passes atomic.Int32
	stub.ItemResolver.Stock = func(_ context.Context, items []*model.Item) ([]*int, error) {
		calls.Add(1)
		return make([]*int, len(items)), nil
	}
	server := NewServer(stub)
	server.AroundFields(aroundField("Item", "stock", func(ctx context.Context, next graphql.Resolver) (any, error) {
		passes.Add(1)
		_, _ = next(ctx)
		return next(ctx)
	}))
	Post(t.Context(), t, server, `{ items { stock again: stock } latestItems { stock } }`)
	require.EqualValues(t, 3, calls.Load(), "fact 7: a batch is no longer resolved once per list and alias")
	require.EqualValues(t, 9, passes.Load(), "fact 7: the siblings of a batch no longer pass the middleware one by one")

	calls.Store(0)
	Post(t.Context(), t, server, `{ item(id: "1") { stock } }`)
	require.EqualValues(t, 2, calls.Load(), "fact 7: a batch of a parent that is in no list is resolved once too now")
}

func TestFact7ErrorsOfABatchDoNotComeBackThroughNext(t *testing.T) {
	first := errors.New("first")
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"one error for all":  {first, 2},
		"one error per item": {graphql.BatchErrorList{first, nil}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			stub := stubWithItems("1", "2")
			stub.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
				return make([]*int, 2), test.err
			}
			server := NewServer(stub)
			var returned atomic.Int32
			server.AroundFields(aroundField("Item", "stock", func(ctx context.Context, next graphql.Resolver) (any, error) {
				res, err := next(ctx)
				if err != nil {
					returned.Add(1)
				}
				return res, err
			}))
			response := Post(t.Context(), t, server, `{ items { stock } }`)
			require.Len(t, response.Errors, test.want)
			require.Zero(t, returned.Load(), "fact 7: the error of a batch comes back through next now")
		})
	}
}

func TestFact7AddedErrorsDoNotComeBackThroughNext(t *testing.T) {
	stub := &Stub{}
	stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
		graphql.AddErrorf(ctx, "down")
		return nil, nil
	}
	server := NewServer(stub)
	var returned error
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (res any, err error) {
		res, returned = next(ctx)
		return res, returned
	})
	require.Len(t, Post(t.Context(), t, server, `{ text }`).Errors, 1)
	require.NoError(t, returned, "fact 7: an added error comes back through next now")
}

func TestFact7EntityFindersPassNoFieldMiddleware(t *testing.T) {
	stub := &federated.Stub{}
	found := false
	stub.EntityResolver.FindProductByID = func(_ context.Context, id string) (*model.Product, error) {
		found = true
		return &model.Product{ID: id}, nil
	}
	server := Serve(NewFederatedSchema(stub))
	var passed []string
	var methods []bool
	server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		fc := graphql.GetFieldContext(ctx)
		passed = append(passed, fc.Object+"."+fc.Field.Name)
		methods = append(methods, fc.IsMethod)
		return next(ctx)
	})
	response := Post(t.Context(), t, server,
		`{ _entities(representations: [{__typename: "Product", id: "1"}]) { ... on Product { id } } }`)
	require.Empty(t, response.Errors)
	require.True(t, found)
	require.Equal(t, []string{"Query._entities", "Product.id"}, passed,
		"fact 7: the fields of a federated query that pass middleware have changed")
	require.Equal(t, []bool{true, false}, methods, "section 3: _entities is no longer marked as a method")
}
