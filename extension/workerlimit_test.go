package extension_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

// With a worker_limit gqlgen resolves a list's items a few at a time. One that is abandoned
// makes way for the next.
func TestItemsUnderAWorkerLimitFailEachForItself(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2", "3", "4", "5", "6")
		stub.ItemResolver.Slow = func(ctx context.Context, item *model.Item) (*string, error) {
			switch item.ID {
			case "1":
				return nil, errDown
			case "2":
				time.Sleep(time.Minute)
			case "3":
				return nil, untilCancelled(ctx)
			}
			time.Sleep(time.Second / 2)
			return &item.ID, nil
		}
		server := testgraph.Serve(h.noPanicSchema(stub))
		var running atomic.Int32
		var counts notes[int32]
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			if graphql.GetFieldContext(ctx).Field.Name == "slow" {
				counts.add(running.Add(1))
				defer running.Add(-1)
			}
			return next(ctx)
		})
		registry := protectServer(t, server, specs{"Item.slow": enforced(time.Second)})
		response := testgraph.Post(t.Context(), t, server, `{ items { slow } }`)
		require.ElementsMatch(t, []string{
			"items[0].slow: " + errDown.Error(), "items[1].slow: The operation timed out", "items[2].slow: The operation timed out",
		}, messages(response))
		item := func(slow any) any { return map[string]any{"slow": slow} }
		require.Equal(t, []any{item(nil), item(nil), item(nil), item("4"), item("5"), item("6")}, response.Data["items"])
		require.EqualValues(t, 2, slices.Max(counts.list()), "the schema's worker_limit")
		requireQuiet(t, registry)
	})
}
