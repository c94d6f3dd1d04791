package extension_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

func TestEntitiesEndWithTheOperationsTimeAndThoseThatAreReadyAreReturned(t *testing.T) {
	for name, fields := range map[string]specs{
		"with a policy":    {"Entity.findProductByID": enforced(time.Minute)},
		"without a policy": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := &federated.Stub{}
				stub.EntityResolver.FindProductByID = func(ctx context.Context, id string) (*model.Product, error) {
					if id == "2" {
						return nil, untilCancelled(ctx)
					}
					return &model.Product{ID: id}, nil
				}
				server, _ := protectSchema(t, testgraph.NewGuardedFederatedSchema(stub), fields,
					extension.WithOperationBudget(extension.Budget{Timeout: time.Second}))
				began := time.Now()
				require.Equal(t, `{"errors":[{"message":"The operation timed out","path":["_entities"],"extensions":{"code":"TIMEOUT","httpStatus":504}}],`+
					`"data":{"_entities":[{"id":"1"},null]}}`, rawPost(t.Context(), t, server, findProducts))
				require.Equal(t, time.Second, time.Since(began))
			})
		})
	}
}
