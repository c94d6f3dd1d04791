//go:build !race

package loadertest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
)

// It is a race, too: each of the fields writes to the error.
func TestTrapAGraphQLErrorOfABatchTellsOnePathForAllItsFields(t *testing.T) {
	inEachSchema(t, func(t *testing.T, schema schemaOf) {
		d := &dependency{answer: func(context.Context, int) error { return gqlerror.Errorf("down") }}
		server, _ := recipe(t, schema, d, 3, nil)
		response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.Len(t, response.Errors, 3)
		require.Equal(t, response.Errors[0].Path, response.Errors[1].Path)
		require.Equal(t, response.Errors[0].Path, response.Errors[2].Path)
	})
}
