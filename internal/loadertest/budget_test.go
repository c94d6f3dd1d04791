package loadertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestTheTimeOfAnOperationEndsTheWaitsForABatchAndNotTheBatch(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{answer: after(900 * time.Millisecond)}
		server, _ := recipe(t, schema, d, 10, specs{"Item.slow": {Timeout: timeout(time.Second, mode)}},
			extension.WithOperationBudget(extension.Budget{Timeout: 100 * time.Millisecond}))
		began := time.Now()
		response := testgraph.Post(t.Context(), t, server, `{ items { slow quotes { service } } }`)
		require.Less(t, time.Since(began), 200*time.Millisecond)
		require.Len(t, response.Errors, 20)
		for _, err := range response.Errors {
			require.Equal(t, "TIMEOUT", err.Extensions["code"])
		}
		require.Equal(t, 2, d.underWay())
		time.Sleep(time.Second)
		require.Equal(t, []int{10, 10}, d.sizes())
		require.Zero(t, d.underWay())
	})
}

func TestTheRetriesOfAnOperationDoNotCountThoseOfABatch(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{answer: failing}
		server, _ := recipe(t, schema, d, 10, nil, extension.WithOperationBudget(extension.Budget{Retries: new(0)}))
		testgraph.Post(t.Context(), t, server, `{ items { quotes { service } } }`)
		require.Equal(t, []int{10, 10, 10}, d.sizes())
	})
}

func TestTrapTheConcurrencyOfAnOperationSplitsTheBatch(t *testing.T) {
	inEachMode(t, func(t *testing.T, schema schemaOf, mode policy.TimeoutMode) {
		d := &dependency{}
		server, _ := recipe(t, schema, d, 100, specs{"Item.slow": {Timeout: timeout(time.Second, mode)}},
			extension.WithOperationBudget(extension.Budget{Concurrency: 10}))
		response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.Empty(t, response.Errors)
		require.Equal(t, []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, d.sizes())
	})
}
