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

func TestAttemptsOfOneOperationEndEachAtItsOwnTime(t *testing.T) {
	for mode, limited := range map[string]func(time.Duration) policy.Spec{"enforced": enforced, "cooperative": cooperative} {
		t.Run(mode, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				var begun time.Time
				lasting := func(begins, want time.Duration) func(context.Context, *model.Item) (*string, error) {
					return func(ctx context.Context, _ *model.Item) (*string, error) {
						time.Sleep(begins)
						err := untilCancelled(derivedFrom(ctx))
						assert.Equal(t, want, time.Since(begun))
						return nil, err
					}
				}
				stub := stubOf("1")
				stub.ItemResolver.Slow = lasting(0, 3*time.Second)
				stub.ItemResolver.Probe = lasting(time.Millisecond, time.Second) // is up before the first that is watched
				stub.ItemResolver.Detail = func(ctx context.Context, item *model.Item) (*model.Detail, error) {
					_, err := lasting(2*time.Millisecond, 2*time.Second)(ctx, item)
					return nil, err
				}
				server, _ := protectSchema(t, h.schema(stub), specs{
					"Item.slow": limited(3 * time.Second), "Item.probe": limited(time.Second), "Item.detail": limited(2 * time.Second),
				})
				begun = time.Now()
				response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow probe detail { note } } }`)
				require.Len(t, response.Errors, 3)
				require.Equal(t, 3*time.Second, time.Since(begun))
			})
		})
	}
}

func TestAnAttemptWhoseFieldHasAContextOfItsOwnEndsWithThat(t *testing.T) {
	inEachMode(t, time.Minute, func(t *testing.T, h hook, spec policy.Spec) {
		var begun time.Time
		ends := &notes[time.Duration]{}
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { // the operation's is watched
			derived := derivedFrom(ctx)
			time.Sleep(3 * time.Second)
			return nil, derived.Err()
		}
		stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
			time.Sleep(time.Millisecond)
			derived := derivedFrom(ctx)
			context.AfterFunc(derived, func() { ends.add(time.Since(begun)) })
			<-derived.Done()
			assert.ErrorIs(t, context.Cause(derived), errDown)
			return nil, nil
		}
		stub.ItemResolver.Detail = func(ctx context.Context, _ *model.Item) (*model.Detail, error) {
			time.Sleep(time.Millisecond)
			derived := derivedFrom(ctx)
			context.AfterFunc(derived, func() {
				ends.add(time.Since(begun))
				assert.Equal(t, context.DeadlineExceeded, derived.Err())
				assert.ErrorIs(t, context.Cause(derived), errDown)
			})
			return nil, nil // its attempt is over by then
		}
		server := h.server(stub)
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			if name := graphql.GetFieldContext(ctx).Field.Name; name == "probe" || name == "detail" {
				limited, cancel := context.WithTimeoutCause(ctx, time.Second, errDown)
				_ = cancel // its time ends it
				return next(limited)
			}
			return next(ctx)
		})
		protectServer(t, server, specs{"Item.slow": spec, "Item.probe": spec, "Item.detail": spec})
		begun = time.Now()
		response := testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow probe detail { note } } }`)
		require.Equal(t, 3*time.Second, time.Since(begun))
		require.Equal(t, []time.Duration{time.Second, time.Second}, ends.list())
		for _, err := range response.Errors {
			require.NotEqual(t, "slow", err.Path[len(err.Path)-1], "it ends with another's")
		}
	})
}

func TestAnAttemptInsideAnAttemptEndsWithIt(t *testing.T) {
	for mode, limited := range map[string]func(time.Duration) policy.Spec{"enforced": enforced, "cooperative": cooperative} {
		t.Run(mode, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				var begun time.Time
				stub := stubOf("1")
				stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
					_, err := extension.Guard(ctx, "Query.text", func(ctx context.Context) (*string, error) {
						derived := derivedFrom(ctx)
						err := untilCancelled(derived)
						assert.Equal(t, time.Second, time.Since(begun))
						var timeUp *policy.Error
						if assert.ErrorAs(t, context.Cause(derived), &timeUp) {
							assert.Equal(t, "Query.item", timeUp.Source)
						}
						return nil, err
					})
					return nil, err
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": limited(time.Second), "Query.text": limited(time.Minute)})
				begun = time.Now()
				requireTimeout(t, testgraph.Post(t.Context(), t, server, `{ item(id: "1") { id } }`), "item")
			})
		})
	}
}

func TestAttemptsOfOneOperationShareAWatchOverItsContext(t *testing.T) {
	inEachMode(t, time.Minute, func(t *testing.T, h hook, spec policy.Spec) {
		var waiting atomic.Int64
		done := make(chan struct{})
		stub := stubOf("1")
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			derivedFrom(ctx)
			time.Sleep(time.Second)
			assert.LessOrEqual(t, waiting.Load(), int64(2), "that of the attempts, and that of what hangs on them")
			return new("slow"), nil
		}
		server := h.server(stub)
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			if graphql.GetFieldContext(ctx).Field.Name == "slow" {
				ctx = &watchedContext{ctx, done, &waiting}
			}
			return next(ctx)
		})
		protectServer(t, server, specs{"Item.slow": spec})
		require.Empty(t, testgraph.Post(t.Context(), t, server, `{ item(id: "1") { a: slow b: slow c: slow } }`).Errors)
	})
}

func TestNothingWaitsForTheEndOfAContextAfterTheOperation(t *testing.T) {
	for name, resolve := range map[string]func(context.Context) error{
		"after an answer":  func(ctx context.Context) error { return derivedFrom(ctx).Err() },
		"after a failure":  func(ctx context.Context) error { derivedFrom(ctx); return errDown },
		"after a timeout":  func(ctx context.Context) error { return untilCancelled(derivedFrom(ctx)) },
		"after an abandon": func(ctx context.Context) error { derivedFrom(ctx); time.Sleep(time.Minute); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
				stub := stubOf("1")
				stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) { return nil, resolve(ctx) }
				stub.ItemResolver.Probe = stub.ItemResolver.Slow
				server := h.server(stub)
				var waiting atomic.Int64
				server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
					if name := graphql.GetFieldContext(ctx).Field.Name; name == "slow" || name == "probe" {
						ctx = &watchedContext{ctx, make(chan struct{}), &waiting} // one of them is the first
					}
					return next(ctx)
				})
				registry := protectServer(t, server, specs{"Item.slow": retrying(spec, 2), "Item.probe": retrying(spec, 2)})
				testgraph.Post(t.Context(), t, server, `{ item(id: "1") { slow probe } }`)
				requireQuiet(t, registry)
				synctest.Wait()
				require.Zero(t, waiting.Load())
			})
		})
	}
}

func TestWhoeverFindsTheErrOfAnAttemptFindsItDone(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		checked := 0
		var ended atomic.Bool
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			done := ctx.Done()
			ended.Store(true)
			defer ended.Store(false)
			if ctx.Err() == nil { // then it was made to wait for Done or its time, whichever comes first
				<-done
				assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
			}
			select {
			case <-done:
			default:
				t.Error("a context with an error is not done")
			}
			checked++
			return nil, nil
		}
		server := h.server(stub)
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			return next(hasty{ctx, &ended})
		})
		protectServer(t, server, specs{"Query.text": spec})
		for range 20 {
			testgraph.Post(t.Context(), t, server, `{ text }`)
		}
		require.Equal(t, 20, checked)
	})
}

func TestWhoWaitsOnAnAttemptWhileTheClientDisconnectsIsTold(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		ctx, disconnect := context.WithCancelCause(t.Context())
		var sprung atomic.Pointer[func()]
		stub := stubOf("1")
		checked := false
		stub.ItemResolver.Slow = func(ctx context.Context, _ *model.Item) (*string, error) {
			return nil, untilCancelled(derivedFrom(ctx)) // makes the operation's context watched
		}
		stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
			time.Sleep(time.Millisecond)
			sprung.Store(new(func() {
				disconnect(errDown)
				synctest.Wait() // all who watch have been told
			}))
			done := ctx.Done() // asked once: whoever asks again is told anew
			synctest.Wait()
			select {
			case <-done:
			default:
				t.Error("who waits is not told")
			}
			assert.ErrorIs(t, ctx.Err(), context.Canceled)
			assert.ErrorIs(t, context.Cause(ctx), errDown)
			checked = true
			return nil, nil
		}
		server := h.server(stub)
		server.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
			if graphql.GetFieldContext(ctx).Field.Name == "probe" {
				ctx = trapped{ctx, &sprung}
			}
			return next(ctx)
		})
		protectServer(t, server, specs{"Item.slow": cooperative(time.Minute), "Item.probe": cooperative(time.Minute)})
		testgraph.Post(ctx, t, server, `{ item(id: "1") { slow probe } }`)
		require.True(t, checked)
	})
}

func TestAnAttemptThatReturnsAtTheMomentItsTimeIsUpLeavesALiveContext(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			derivedFrom(ctx)
			time.Sleep(time.Second)
			return nil, errDown
		}
		probed := 0
		stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
			probed++
			assertLive(t, ctx)
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec},
			extension.WithFallback("Query.item", func(context.Context, error) (*model.Item, error) { return &model.Item{ID: "fallback"}, nil }))
		for range 50 {
			require.Empty(t, testgraph.Post(requestContext(t), t, server, `{ item(id: "1") { probe } }`).Errors)
		}
		require.Equal(t, 50, probed)
	})
}

func TestAnAttemptTellsItsDeadlineInTheSameWords(t *testing.T) {
	for name, h := range hooks { // not in a bubble, where the clock stands
		t.Run(name, func(t *testing.T) {
			server, _ := protectSchema(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
				first, limited := ctx.Deadline()
				assert.True(t, limited)
				derived := derivedFrom(ctx)
				for range 100 {
					again, _ := derived.Deadline()
					if !assert.Equal(t, first, again) {
						break
					}
				}
				return nil, nil
			})), specs{"Query.text": cooperative(time.Hour)})
			require.Empty(t, testgraph.Post(t.Context(), t, server, `{ text }`).Errors)
		})
	}
}
