package testgraph

import (
	"context"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// ask queries the schema served with the extension.
func ask(t *testing.T, schema graphql.ExecutableSchema, query string) Response {
	t.Helper()
	registry, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"dependency": {Retry: &policy.RetrySpec{Attempts: new(2)}},
	}})
	require.NoError(t, err)
	server := Serve(schema)
	server.Use(extension.New(registry))
	return Post(t.Context(), t, server, query)
}

func TestGuardsHandArgumentsParentsAndResultsOn(t *testing.T) {
	stub := &Stub{}
	stub.QueryResolver.Item = func(_ context.Context, id string) (*model.Item, error) { return &model.Item{ID: id}, nil }
	stub.QueryResolver.Annotated = func(_ context.Context, n *int) ([]*model.Item, error) {
		return slices.Repeat([]*model.Item{{ID: "many"}}, *n), nil
	}
	stub.ItemResolver.QuotesFor = func(_ context.Context, item *model.Item, weight *int) ([]*model.Quote, error) {
		return slices.Repeat([]*model.Quote{{Service: "to " + item.ID}}, *weight), nil
	}
	stub.ItemResolver.Stock = func(_ context.Context, items []*model.Item) ([]*int, error) { return []*int{new(len(items))}, nil }
	stub.ItemResolver.StrictStock = func(context.Context, []*model.Item) ([]int, error) { return []int{9}, nil }
	want := map[string]any{
		"item": map[string]any{
			"id": "7", "stock": 1.0, "strictStock": 9.0,
			"quotesFor": slices.Repeat([]any{map[string]any{"service": "to 7"}}, 3),
		},
		"annotated": slices.Repeat([]any{map[string]any{"id": "many"}}, 2),
	}

	for name, schema := range map[string]graphql.ExecutableSchema{
		"guarded":         NewGuardedSchema(stub),
		"guarded twice":   newSchema(stub, Guard(Guard(stub))),
		"without a guard": NewSchema(stub),
		"no panic":        NewGuardedNoPanicSchema(stub),
	} {
		response := ask(t, schema, `{
			item(id: "7") { id stock strictStock quotesFor(weight: 3) { service } }
			annotated(n: 2) { id }
		}`)

		assert.Empty(t, response.Errors, name)
		assert.Equal(t, want, response.Data, name)
	}
}

func TestGuardingAgainChangesNothing(t *testing.T) {
	guarded := Guard(&Stub{})

	assert.Equal(t, guarded, Guard(guarded))
}

func TestGuardsTellWhichFieldsTheyGuard(t *testing.T) {
	guarded, ok := federated.Guard(&federated.Stub{}).(extension.Guarded)
	require.True(t, ok)

	assert.Equal(t, []string{
		"Entity.findManyWarehouseByIDs", "Entity.findProductByID", "Query.cheapest",
		"Subscription.plainPrices", "Subscription.prices", "Warehouse.stock",
	}, guarded.GuardedFields())
}

func TestTheDeclarationThatGenerationAddsIsInTheSubgraphsSDL(t *testing.T) {
	response := ask(t, NewGuardedFederatedSchema(&federated.Stub{}), `{ _service { sdl } }`)

	require.Empty(t, response.Errors)
	assert.Contains(t, response.Data["_service"].(map[string]any)["sdl"], "directive @resilience(")
}
