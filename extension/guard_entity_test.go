package extension_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

const (
	findProducts   = `{ _entities(representations: [{__typename: "Product", id: "1"}, {__typename: "Product", id: "2"}]) { ... on Product { id } } }`
	findWarehouses = `{ _entities(representations: [{__typename: "Warehouse", id: "1"}, {__typename: "Warehouse", id: "2"}]) { ... on Warehouse { id } } }`
)

// finders protects the entity finders of stub.
func finders(t testing.TB, stub *federated.Stub, options ...extension.Option) (*handler.Server, *policy.Registry) {
	t.Helper()
	spec := breaking(retrying(enforced(time.Second), 2))
	return protectSchema(t, testgraph.NewGuardedFederatedSchema(stub),
		specs{"Entity.findProductByID": spec, "Entity.findManyWarehouseByIDs": spec}, options...)
}

func TestGuardedEntityFindersAreRetried(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"after an error":  func(context.Context) error { return errDown },
		"after a timeout": untilCancelled,
		"beside one that sleeps through its cancel": func(context.Context) error { time.Sleep(time.Minute); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := &federated.Stub{}
				first := func(ctx context.Context) error {
					if policy.AttemptFromContext(ctx) == 1 {
						return fail(ctx)
					}
					return nil
				}
				stub.EntityResolver.FindProductByID = func(ctx context.Context, id string) (*model.Product, error) {
					return &model.Product{ID: id}, first(ctx)
				}
				stub.EntityResolver.FindManyWarehouseByIDs = func(ctx context.Context, keys []*model.WarehouseByIDsInput) ([]*model.Warehouse, error) {
					return []*model.Warehouse{{ID: keys[0].ID}, {ID: keys[1].ID}}, first(ctx)
				}
				server, registry := finders(t, stub)
				for _, query := range []string{findProducts, findWarehouses} {
					require.Equal(t, `{"data":{"_entities":[{"id":"1"},{"id":"2"}]}}`, rawPost(t.Context(), t, server, query))
				}
				require.Equal(t, 2, failures(t, registry, "Entity.findProductByID"), "one of each product")
				require.Equal(t, 1, failures(t, registry, "Entity.findManyWarehouseByIDs"))
				requireQuiet(t, registry)
			})
		})
	}
}

// What entity finders fail with reaches gqlgen past the field middleware.
func TestErrorsOfGuardedEntityFindersOnTheWire(t *testing.T) {
	const (
		timeout = `{"message":"The operation timed out","path":["_entities"],"extensions":{"code":"TIMEOUT","httpStatus":504}}`
		open    = `{"message":"Service temporarily unavailable","path":["_entities"],"extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":30}}`
	)
	for name, presenter := range map[string]graphql.ErrorPresenterFunc{
		"without a presenter": nil, "with the presenter": gqlerrors.Presenter(graphql.DefaultErrorPresenter),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := &federated.Stub{}
				stub.EntityResolver.FindProductByID = func(ctx context.Context, _ string) (*model.Product, error) { return nil, untilCancelled(ctx) }
				stub.EntityResolver.FindManyWarehouseByIDs = func(context.Context, []*model.WarehouseByIDsInput) ([]*model.Warehouse, error) {
					time.Sleep(time.Minute)
					return nil, errors.New("late")
				}
				server, registry := finders(t, stub)
				if presenter != nil {
					server.SetErrorPresenter(presenter)
				}
				require.Equal(t, `{"errors":[`+timeout+`,`+timeout+`],"data":{"_entities":[null,null]}}`, rawPost(t.Context(), t, server, findProducts))
				require.Equal(t, `{"errors":[`+timeout+`],"data":{"_entities":[null,null]}}`, rawPost(t.Context(), t, server, findWarehouses))
				for _, finder := range []string{"Entity.findProductByID", "Entity.findManyWarehouseByIDs"} {
					breaker, _ := registry.CircuitBreaker(finder)
					breaker.Trip()
				}
				require.Equal(t, `{"errors":[`+open+`,`+open+`],"data":{"_entities":[null,null]}}`, rawPost(t.Context(), t, server, findProducts))
				require.Equal(t, `{"errors":[`+open+`],"data":{"_entities":[null,null]}}`, rawPost(t.Context(), t, server, findWarehouses))
				requireQuiet(t, registry)
			})
		})
	}
}

func TestGuardedEntityFinderKeepsTheEntitiesThatItFound(t *testing.T) {
	stub := &federated.Stub{}
	stub.EntityResolver.FindManyWarehouseByIDs = func(context.Context, []*model.WarehouseByIDsInput) ([]*model.Warehouse, error) {
		return []*model.Warehouse{nil, {ID: "2"}}, graphql.BatchErrorList{&policy.Error{Kind: policy.KindBulkheadFull, Policy: "secret"}, nil}
	}
	server, _ := finders(t, stub)
	require.Equal(t, `{"errors":[{"message":"Server is at capacity","path":["_entities",0],"extensions":{"code":"BULKHEAD_FULL","httpStatus":503}}],`+
		`"data":{"_entities":[null,{"id":"2"}]}}`, rawPost(t.Context(), t, server, findWarehouses))
}

func TestFallbackAnswersForAGuardedEntityFinder(t *testing.T) {
	stub := &federated.Stub{}
	stub.EntityResolver.FindProductByID = func(context.Context, string) (*model.Product, error) { return nil, errDown }
	server, _ := finders(t, stub, answerWith("Entity.findProductByID", &model.Product{ID: "fallback"}))
	require.Equal(t, `{"data":{"_entities":[{"id":"fallback"},{"id":"fallback"}]},"extensions":{"degraded":[{"path":["_entities"],"code":"INTERNAL"}]}}`,
		rawPost(t.Context(), t, server, findProducts), "all entities have one path, so it is told once")
}

func TestOneMissingEntityDoesNotHideThatOthersFailed(t *testing.T) {
	for name, row := range map[string]struct {
		items    error
		failures int
	}{
		"one that does not exist": {graphql.BatchErrorList{errNoItem, nil}, 0},
		"one more that failed":    {graphql.BatchErrorList{errNoItem, errDown}, 2},
		"one more, with context":  {fmt.Errorf("warehouses: %w", graphql.BatchErrorList{errNoItem, errDown}), 2},
		"none exists":             {graphql.BatchErrorList{errNoItem, errNoItem}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &federated.Stub{}
			stub.EntityResolver.FindManyWarehouseByIDs = func(_ context.Context, keys []*model.WarehouseByIDsInput) ([]*model.Warehouse, error) {
				return []*model.Warehouse{{ID: keys[0].ID}, {ID: keys[1].ID}}, row.items
			}
			server, registry := finders(t, stub)
			require.NotEmpty(t, testgraph.Post(t.Context(), t, server, findWarehouses).Errors)
			require.Equal(t, row.failures, failures(t, registry, "Entity.findManyWarehouseByIDs"))
		})
	}
}

func TestEntitiesOfWhichNoneIsAnsweredHaveAnError(t *testing.T) {
	t.Run("because the finder is out of time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stub := &federated.Stub{}
			stub.EntityResolver.FindManyWarehouseByIDs = func(ctx context.Context, _ []*model.WarehouseByIDsInput) ([]*model.Warehouse, error) {
				err := untilCancelled(ctx)
				return []*model.Warehouse{nil, nil}, graphql.BatchErrorList{err, err}
			}
			server, _ := protectSchema(t, testgraph.NewGuardedFederatedSchema(stub), specs{"Entity.findManyWarehouseByIDs": cooperative(time.Second)})
			response := testgraph.Post(t.Context(), t, server, findWarehouses)
			require.NotEmpty(t, response.Errors)
			require.Equal(t, "TIMEOUT", response.Errors[0].Extensions["code"])
		})
	})
	t.Run("because the fallback fails too", func(t *testing.T) {
		stub := &federated.Stub{}
		stub.EntityResolver.FindManyWarehouseByIDs = func(_ context.Context, keys []*model.WarehouseByIDsInput) ([]*model.Warehouse, error) {
			return []*model.Warehouse{nil, {ID: keys[1].ID}}, graphql.BatchErrorList{errDown, nil}
		}
		server, _ := finders(t, stub, extension.WithFallback("Entity.findManyWarehouseByIDs",
			func(context.Context, error) ([]*model.Warehouse, error) { return nil, errors.New("no cache") }))
		response := testgraph.Post(t.Context(), t, server, findWarehouses)
		require.NotEmpty(t, response.Errors)
		require.Equal(t, "no cache", response.Errors[0].Message)
	})
}

func TestAnEntityThatFailsHidesNoOtherThatItsFallbackAnswered(t *testing.T) {
	stub := &federated.Stub{}
	stub.EntityResolver.FindProductByID = func(_ context.Context, id string) (*model.Product, error) {
		if id == "1" {
			return nil, errNoItem
		}
		return nil, errDown
	}
	server, _ := finders(t, stub, answerWith("Entity.findProductByID", &model.Product{ID: "old"}))
	response := testgraph.Post(t.Context(), t, server, findProducts)
	require.Len(t, response.Errors, 1)
	require.Equal(t, []any{map[string]any{"path": []any{"_entities"}, "code": "INTERNAL"}}, response.Extensions["degraded"])
}
