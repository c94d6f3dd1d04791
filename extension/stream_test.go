package extension_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// transports receive all responses of a subscription.
var transports = map[string]func(t *testing.T, server http.Handler, query string) []testgraph.Response{
	"SSE": func(t *testing.T, server http.Handler, query string) []testgraph.Response {
		return testgraph.Stream(requestContext(t), t, server, query)
	},
	"WebSocket": func(t *testing.T, server http.Handler, query string) []testgraph.Response {
		socket := testgraph.Dial(requestContext(t), t, server)
		defer socket.Close()
		socket.Subscribe(query)
		var all []testgraph.Response
		for {
			response, more := socket.Next()
			if !more {
				return all
			}
			all = append(all, response)
		}
	},
}

// streams are the kinds of stream that gqlgen generates, by field. Each has one event, and
// calls start where it starts.
var streams = map[string]func(h hook, start func(context.Context) error) graphql.ExecutableSchema{
	"ticks": testgraphStream, "maybeTicks": testgraphStream, "plainPrices": federatedStream, "prices": federatedStream,
}

func testgraphStream(h hook, start func(context.Context) error) graphql.ExecutableSchema {
	stub := &testgraph.Stub{}
	stub.SubscriptionResolver.Ticks = func(ctx context.Context) (<-chan *model.Tick, error) {
		if err := start(ctx); err != nil {
			return nil, err
		}
		return ticksTo(1)(ctx)
	}
	stub.SubscriptionResolver.MaybeTicks = stub.SubscriptionResolver.Ticks
	return h.schema(stub)
}

func federatedStream(h hook, start func(context.Context) error) graphql.ExecutableSchema {
	stub := &federated.Stub{}
	stub.SubscriptionResolver.PlainPrices = func(ctx context.Context) (<-chan *model.Product, error) {
		products := make(chan *model.Product, 1)
		products <- &model.Product{}
		close(products)
		return products, start(ctx)
	}
	stub.SubscriptionResolver.Prices = func(ctx context.Context) (<-chan graphql.Event[*model.Product], error) {
		products := make(chan graphql.Event[*model.Product], 1)
		products <- graphql.Event[*model.Product]{Context: ctx, Value: &model.Product{}}
		close(products)
		return products, start(ctx)
	}
	return h.federatedSchema(stub)
}

// serveStream returns the responses of a stream that start starts under a policy.
type serveStream func(start func(context.Context) error, spec policy.Spec) ([]testgraph.Response, *policy.Registry)

// inEachStream runs a test for each kind of stream over each transport.
func inEachStream(t *testing.T, test func(t *testing.T, h hook, field string, serve serveStream)) {
	t.Helper()
	for field, schema := range streams {
		for transport, receive := range transports {
			t.Run(field+", "+transport, func(t *testing.T) {
				underEachHook(t, func(t *testing.T, h hook) {
					test(t, h, field, func(start func(context.Context) error, spec policy.Spec) ([]testgraph.Response, *policy.Registry) {
						server, registry := protectSchema(t, schema(h, start), specs{"Subscription." + field: spec})
						return receive(t, server, `subscription { `+field+` { __typename } }`), registry
					})
				})
			})
		}
	}
}

func TestStreamThatDoesNotStartInTimeEndsWithATimeout(t *testing.T) {
	for name, late := range lateEnds {
		t.Run(name, func(t *testing.T) {
			inEachStream(t, func(t *testing.T, h hook, field string, serve serveStream) {
				var attempts atomic.Int32
				began := time.Now()
				events, registry := serve(func(ctx context.Context) error {
					attempts.Add(1)
					time.Sleep(time.Minute)
					return late(ctx)
				}, retrying(enforced(time.Second), 3))
				made := 1
				if h.guarded { // it is retried beside itself
					made = 3
				}
				require.Equal(t, time.Duration(made)*1010*time.Millisecond, time.Since(began))
				require.Len(t, events, 1)
				requireTimeout(t, events[0], field)
				require.Nil(t, events[0].Data)
				requireQuiet(t, registry)
				require.EqualValues(t, made, attempts.Load())
			})
		})
	}
}

func TestStreamThatFailsToStartEndsWithItsError(t *testing.T) {
	for name, test := range map[string]struct {
		start    func(context.Context) error
		messages []string
	}{
		"an error":             {func(context.Context) error { return errDown }, []string{errDown.Error()}},
		"a panic":              {func(context.Context) error { panic("boom") }, []string{"panic: boom"}},
		"a timeout it obeys":   {untilCancelled, []string{"The operation timed out"}},
		"an error it adds too": {func(ctx context.Context) error { graphql.AddErrorf(ctx, "beside"); return errDown }, []string{"beside", errDown.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			inEachStream(t, func(t *testing.T, h hook, field string, serve serveStream) {
				events, _ := serve(test.start, enforced(time.Second))
				require.Len(t, events, 1)
				require.Len(t, events[0].Errors, len(test.messages))
				for i, err := range events[0].Errors {
					require.Equal(t, test.messages[i], err.Message)
					require.Equal(t, field, err.Path.String())
				}
			})
		})
	}
}

func TestHealthyStreamPasses(t *testing.T) {
	inEachStream(t, func(t *testing.T, h hook, field string, serve serveStream) {
		events, _ := serve(func(ctx context.Context) error {
			assert.Equal(t, 1, policy.AttemptFromContext(ctx))
			_ = ctx.Done()
			return nil
		}, enforced(time.Second))
		require.Len(t, events, 1)
		require.Empty(t, events[0].Errors)
		require.Contains(t, events[0].Data, field)
	})
}

func TestFallbackMayStartAStream(t *testing.T) {
	for transport, receive := range transports {
		t.Run(transport, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				stub := &testgraph.Stub{}
				stub.SubscriptionResolver.Ticks = func(context.Context) (<-chan *model.Tick, error) { return nil, errDown }
				stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) {
					assertLive(t, ctx)
					return new("live"), nil
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Subscription.ticks": enforced(time.Second)},
					extension.WithFallback("Subscription.ticks", func(ctx context.Context, _ error) (<-chan *model.Tick, error) {
						return ticksTo(2)(ctx)
					}))
				events := receive(t, server, `subscription { ticks { n detail } }`)
				require.Len(t, events, 2)
				require.Equal(t, map[string]any{"ticks": map[string]any{"n": 1.0, "detail": "live"}}, events[1].Data)
			})
		})
	}
}

// The goroutine that fills a stream often takes the context that it was started with.
func TestProducerOfAStreamLivesAsLongAsTheStream(t *testing.T) {
	for name, use := range map[string]func(context.Context) context.Context{
		"context of the attempt": func(ctx context.Context) context.Context { return ctx },
		"derived context":        derivedFrom,
	} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
				ended := make(chan struct{})
				stub := &testgraph.Stub{}
				stub.SubscriptionResolver.Ticks = func(ctx context.Context) (<-chan *model.Tick, error) {
					ticks := make(chan *model.Tick)
					ctx = use(ctx)
					go func() {
						defer close(ended)
						for n := 0; ; n++ {
							time.Sleep(time.Second)
							select {
							case ticks <- &model.Tick{N: n}:
							case <-ctx.Done():
								assert.ErrorIs(t, ctx.Err(), context.Canceled)
								return
							}
						}
					}()
					return ticks, nil
				}
				stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) {
					_ = derivedFrom(ctx)
					return nil, ctx.Err()
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Subscription.ticks": spec, "Tick.detail": spec})
				ctx, disconnect := context.WithCancel(requestContext(t))
				time.AfterFunc(time.Minute+time.Second/2, disconnect)
				events := testgraph.Stream(ctx, t, server, `subscription { ticks { detail } }`)
				require.Len(t, events, 60)
				require.Empty(t, events[59].Errors)
				<-ended
			})
		})
	}
}

// A child that was abandoned in one event is not in the way of the next.
func TestEventsOfAStreamFailEachForItself(t *testing.T) {
	for transport, receive := range transports {
		t.Run(transport, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				stub := &testgraph.Stub{}
				stub.SubscriptionResolver.Ticks = ticksTo(4)
				stub.TickResolver.Detail = func(ctx context.Context, tick *model.Tick) (*string, error) {
					switch tick.N {
					case 0:
						time.Sleep(time.Minute)
						graphql.AddErrorf(ctx, "late")
					case 1:
						panic("boom")
					case 2:
						return nil, untilCancelled(ctx)
					}
					return new("fine"), nil
				}
				server, registry := protectSchema(t, h.schema(stub), specs{"Tick.detail": enforced(time.Second)})
				events := receive(t, server, `subscription { ticks { n detail } }`)
				require.Len(t, events, 4)
				requireTimeout(t, events[0], "detail")
				require.Equal(t, "panic: boom", events[1].Errors[0].Message)
				requireTimeout(t, events[2], "detail")
				require.Empty(t, events[3].Errors)
				require.Equal(t, map[string]any{"ticks": map[string]any{"n": 3.0, "detail": "fine"}}, events[3].Data)
				requireQuiet(t, registry)
			})
		})
	}
}

func TestWhoWaitsOnTheContextOfAnEventsChildIsReleasedWithTheEvent(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		released := &notes[int]{}
		stub := &testgraph.Stub{}
		stub.SubscriptionResolver.Ticks = ticksTo(3)
		stub.TickResolver.Detail = func(ctx context.Context, tick *model.Tick) (*string, error) {
			synctest.Wait()
			assert.Len(t, released.list(), tick.N, "those of earlier events, and no others")
			context.AfterFunc(derivedFrom(ctx), func() { released.add(tick.N) })
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Tick.detail": spec})
		require.Len(t, testgraph.Stream(requestContext(t), t, server, `subscription { ticks { detail } }`), 3)
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2}, released.list())
	})
}
