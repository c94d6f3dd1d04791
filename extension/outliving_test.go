package extension_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestAClientThatDisconnectsEndsWhatHangsOnEachAttempt(t *testing.T) {
	inEachMode(t, time.Minute, func(t *testing.T, h hook, spec policy.Spec) {
		ctx, disconnect := context.WithCancel(t.Context())
		var begun time.Time
		ends := &notes[time.Duration]{}
		hang := func(ctx context.Context) {
			context.AfterFunc(derivedFrom(ctx), func() { ends.add(time.Since(begun)) })
		}
		stub := stubOf("1")
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			hang(ctx)
			return &model.Item{ID: "1"}, nil // its attempt is over by then
		}
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			hang(ctx)
			time.Sleep(2 * time.Second)
			return nil, nil
		}
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.item": spec, "Item.slow": spec})
		begun = time.Now()
		time.AfterFunc(time.Second, disconnect)
		testgraph.Post(ctx, t, server, `{ item(id: "1") { a: slow b: slow c: slow } }`)
		requireQuiet(t, registry)
		require.Equal(t, []time.Duration{time.Second, time.Second, time.Second, time.Second}, ends.list())
	})
}

func TestAttemptsMayReturnInAnyOrder(t *testing.T) {
	for name, lasts := range map[string][3]time.Duration{"first first": {1, 2, 3}, "first last": {3, 2, 1}, "middle first": {2, 1, 3}, "middle last": {1, 3, 2}} {
		t.Run(name, func(t *testing.T) {
			inEachMode(t, time.Minute, func(t *testing.T, h hook, spec policy.Spec) {
				var begun atomic.Int32
				ends := &notes[error]{}
				stub := stubOf("1")
				stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
					i := begun.Add(1) - 1
					time.Sleep(time.Duration(i) * time.Millisecond)
					derived := derivedFrom(ctx)
					context.AfterFunc(derived, func() { ends.add(derived.Err()) })
					time.Sleep(lasts[i] * time.Second)
					assert.Empty(t, ends.list())
					return nil, nil
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Item.slow": spec})
				require.Empty(t, testgraph.Post(t.Context(), t, server, `{ item(id: "1") { a: slow b: slow c: slow } }`).Errors)
				synctest.Wait()
				require.Equal(t, []error{context.Canceled, context.Canceled, context.Canceled}, ends.list())
			})
		})
	}
}

func TestAnAttemptThatReturnsAfterItsCallerWentLeavesTheOthersWatched(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			return nil, untilCancelled(derivedFrom(ctx))
		}
		stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
			time.Sleep(time.Millisecond)
			return nil, untilCancelled(derivedFrom(ctx))
		}
		server := h.server(stub)
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			if graphql.GetFieldContext(ctx).Field.Name == "slow" {
				limited, cancel := context.WithTimeout(ctx, time.Second/2)
				defer cancel()
				return next(limited)
			}
			return next(ctx)
		})
		protectServer(t, server, specs{"Item.slow": untimed(), "Item.probe": spec})
		begun := time.Now()
		require.Len(t, testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow probe } }`).Errors, 2)
		require.LessOrEqual(t, time.Since(begun), time.Second)
	})
}

func TestAnAttemptThatIsOverEndsWithTheClientAfterAnothersTimeWasUp(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		ctx, disconnect := context.WithCancel(t.Context())
		var begun time.Time
		ends := &notes[time.Duration]{}
		stub := stubOf("1")
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			begun = time.Now()
			context.AfterFunc(derivedFrom(ctx), func() { ends.add(time.Since(begun)) })
			return &model.Item{ID: "1"}, nil
		}
		stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
			return nil, untilCancelled(derivedFrom(ctx))
		}
		stub.ItemResolver.Slow = func(context.Context, *model.Item) (*string, error) {
			time.Sleep(2 * time.Second)
			disconnect()
			synctest.Wait()
			assert.Equal(t, []time.Duration{2 * time.Second}, ends.list(), "before the operation ends")
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec, "Item.probe": spec})
		testgraph.Post(ctx, t, server, `{ item(id: "1") { slow probe } }`)
		require.NotEmpty(t, ends.list())
	})
}

// A call from Go may be on a goroutine that its field leaves behind.
func TestACallThatOutlivesItsOperationEndsWithItsTimeAndItsCaller(t *testing.T) {
	for began, before := range map[string]bool{"begun before": true, "begun after": false} {
		for ends, want := range map[string]time.Duration{"with its time": time.Second, "with its caller": time.Second / 2} {
			t.Run(began+", "+ends, func(t *testing.T) {
				inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
					begin, begun, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					call := func(ctx context.Context) {
						<-begin
						_, err := extension.Guard(ctx, "Query.strictText", func(ctx context.Context) (string, error) {
							close(begun)
							at := time.Now()
							err := untilCancelled(derivedFrom(ctx))
							assert.Equal(t, want, time.Since(at))
							return "", err
						})
						assert.Error(t, err)
						close(ended)
					}
					server := h.server(textStub(func(ctx context.Context) (*string, error) {
						derivedFrom(ctx) // makes the operation's context watched, and its timer ring
						if before {
							close(begin)
							<-begun
						}
						return nil, nil
					}))
					server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
						go call(ctx)
						return next(ctx)
					})
					protectServer(t, server, specs{"Query.text": spec, "Query.strictText": spec})
					require.Empty(t, testgraph.Post(ctx, t, server, `{ text }`).Errors)
					if !before {
						close(begin)
					}
					if want < time.Second {
						time.AfterFunc(want, cancel)
					}
					<-ended
				})
			})
		}
	}
}

func TestNothingWaitsForTheEndOfAContextAfterACallThatOutlivesItsOperation(t *testing.T) {
	inEachMode(t, time.Hour, func(t *testing.T, h hook, spec policy.Spec) {
		var waiting atomic.Int64
		begun, late := make(chan struct{}), make(chan struct{})
		server, registry := protectSchema(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
			ctx = &watchedContext{ctx, make(chan struct{}), &waiting}
			go func() {
				defer close(late)
				_, _ = extension.Guard(ctx, "Query.strictText", func(ctx context.Context) (string, error) {
					close(begun)
					derivedFrom(ctx)
					time.Sleep(time.Minute)
					return "late", nil
				})
			}()
			<-begun
			return nil, nil
		})), specs{"Query.strictText": spec})
		require.Empty(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors)
		<-late
		requireQuiet(t, registry)
		synctest.Wait()
		require.Zero(t, waiting.Load())
	})
}
