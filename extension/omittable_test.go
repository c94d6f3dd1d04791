package extension_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Each attempt gets its arguments as the client gave them, and so does the fallback.
func TestOmittableArgumentsReachEachAttempt(t *testing.T) {
	for argument, want := range map[string]string{
		`(by: {name: "tuna"})`: "tuna", `(by: {name: null})`: "null", `(by: {})`: "omitted", ``: "none",
	} {
		t.Run(want, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
				var seen notes[string]
				stub := &testgraph.Stub{}
				stub.QueryResolver.Filtered = func(_ context.Context, by *model.Filter) (*string, error) {
					seen.add(describe(by))
					return nil, errDown
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Query.filtered": retrying(spec, 2)},
					extension.WithFallback("Query.filtered", func(context.Context, error) (*string, error) { return new("all"), nil }))
				response := testgraph.Post(t.Context(), t, server, `{ filtered`+argument+` }`)
				require.Equal(t, map[string]any{"filtered": "all"}, response.Data)
				require.Equal(t, []string{want, want}, seen.list())
			})
		})
	}
}

func describe(by *model.Filter) string {
	switch {
	case by == nil:
		return "none"
	case !by.Name.IsSet():
		return "omitted"
	case by.Name.Value() == nil:
		return "null"
	default:
		return *by.Name.Value()
	}
}
