package extension_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

// usage is what a process holds on to.
type usage struct {
	heap       int64 // bytes
	goroutines int
}

func currentUsage() usage {
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return usage{int64(stats.HeapAlloc), runtime.NumGoroutine()}
}

// requireSteadyStream consumes a stream and checks that all but the first tenth of its events
// left nothing behind. One entry on the stream's context for each would be some 800 bytes.
func requireSteadyStream(t *testing.T, exec *executor.Executor, query string) {
	t.Helper()
	ctx, cancel := context.WithCancel(graphql.StartOperationTrace(t.Context()))
	defer cancel()
	operation, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: query})
	require.Empty(t, errs)
	responses, ctx := exec.DispatchOperation(ctx, operation)
	consume := func(events int) usage {
		for range events {
			response := responses(ctx)
			if !assert.NotNil(t, response) || !assert.Empty(t, response.Errors) {
				t.FailNow()
			}
		}
		return currentUsage()
	}
	early := consume(streamLength / 10)
	late := consume(streamLength - streamLength/10)
	require.Less(t, late.heap-early.heap, int64(100*streamLength), "the heap grows with the events")
	require.LessOrEqual(t, late.goroutines, early.goroutines+5, "there are goroutines left of the events")
}

// protectExecutor makes an executor of the schema that protects one field.
func protectExecutor(t *testing.T, schema graphql.ExecutableSchema, coordinate string, outer ...graphql.FieldMiddleware) *executor.Executor {
	t.Helper()
	exec := executor.New(schema)
	for _, middleware := range outer {
		exec.AroundFields(middleware)
	}
	exec.Use(extension.New(newRegistry(t, nil), extension.WithField(coordinate, extension.Field{Spec: enforced(time.Hour)})))
	return exec
}

// childResolvers are what resolvers do with their context.
var childResolvers = map[string]func(ctx context.Context) error{
	"asks for Done": func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		default:
			return nil
		}
	},
	"derives a context and forgets it": func(ctx context.Context) error { return derivedFrom(ctx).Err() },
}

func TestEventsOfAStreamLeaveNothingBehind(t *testing.T) {
	for name, resolve := range childResolvers {
		for hooked, h := range hooks {
			t.Run("ticks/"+name+"/"+hooked, func(t *testing.T) {
				stub := &testgraph.Stub{}
				stub.SubscriptionResolver.Ticks = ticksTo(2 * streamLength)
				stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) { return nil, resolve(ctx) }
				requireSteadyStream(t, protectExecutor(t, h.schema(stub), "Tick.detail"), `subscription { ticks { detail } }`)
			})
		}
		t.Run("prices/"+name, func(t *testing.T) {
			exec := protectExecutor(t, testgraph.NewFederatedSchema(pricesTo(2*streamLength)), "Product.price", treatAsMethod("price"))
			exec.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
				if graphql.GetFieldContext(ctx).Field.Name == "price" {
					if err := resolve(ctx); err != nil {
						return nil, err
					}
				}
				return next(ctx)
			})
			requireSteadyStream(t, exec, `subscription { prices { price } }`)
		})
	}
}

// treatAsMethod makes the extension take a plain field for one with a resolver: no object of
// the federated schema has any.
func treatAsMethod(field string) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		if fc := graphql.GetFieldContext(ctx); fc.Field.Name == field {
			fc.IsMethod = true
		}
		return next(ctx)
	}
}

// pricesTo resolves a stream of n events that bring their own context.
func pricesTo(n int) *federated.Stub {
	stub := &federated.Stub{}
	stub.SubscriptionResolver.Prices = func(ctx context.Context) (<-chan graphql.Event[*model.Product], error) {
		events := make(chan graphql.Event[*model.Product])
		go func() {
			defer close(events)
			for i := range n {
				event := graphql.Event[*model.Product]{Context: context.WithValue(ctx, requestKey{}, i), Value: &model.Product{Price: i}}
				select {
				case events <- event:
				case <-ctx.Done():
					return
				}
			}
		}()
		return events, nil
	}
	return stub
}
