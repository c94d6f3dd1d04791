package extension_test

import (
	"context"
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

type requestKey struct{}

// assertLive checks that nothing of an attempt is left in ctx, and that work can be done with
// it for longer than any attempt in these tests may take.
func assertLive(t testing.TB, ctx context.Context) {
	t.Helper()
	assert.NoError(t, ctx.Err())
	assert.NoError(t, context.Cause(ctx))
	assert.Zero(t, policy.AttemptFromContext(ctx))
	assert.Equal(t, "of the request", ctx.Value(requestKey{}))
	_, limited := ctx.Deadline()
	assert.False(t, limited)
	derived, cancel := context.WithTimeout(context.WithValue(ctx, requestKey{}, "derived"), time.Hour)
	stop := context.AfterFunc(ctx, func() {})
	defer cancel()
	defer func() { assert.True(t, stop(), "a function was called that waits for the context's end") }()
	select {
	case <-derived.Done():
		t.Errorf("work derived from the context was cancelled: %v", context.Cause(derived))
	case <-ctx.Done():
		t.Errorf("the context was cancelled: %v", context.Cause(ctx))
	case <-time.After(5 * time.Second):
	}
	assert.NoError(t, ctx.Err())
}

func requestContext(t testing.TB) context.Context {
	return context.WithValue(t.Context(), requestKey{}, "of the request")
}

func TestChildrenHaveLiveContexts(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			_, cancel := context.WithCancel(ctx) // asks for Done
			time.Sleep(500 * time.Millisecond)
			cancel()
			return &model.Item{ID: "1"}, nil
		}
		stub.ItemResolver.Detail = func(ctx context.Context, _ *model.Item) (*model.Detail, error) {
			return &model.Detail{}, nil // does not ask
		}
		probed := 0
		stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
			probed++
			assertLive(t, ctx)
			return nil, nil
		}
		stub.DetailResolver.Note = func(ctx context.Context, _ *model.Detail) (*string, error) {
			probed++
			assertLive(t, ctx)
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec, "Item.detail": spec})
		for _, query := range []string{`{ item(id: "1") { probe } }`, `{ item(id: "1") { detail { note } } }`} {
			require.Empty(t, testgraph.Post(requestContext(t), t, server, query).Errors)
		}
		require.Equal(t, 2, probed)
	})
}

func TestChildrenOfAFallbacksValueHaveLiveContexts(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"after an error":                       func(context.Context) error { return errDown },
		"after a panic":                        func(context.Context) error { panic("down") },
		"after a timeout":                      untilCancelled,
		"after a timeout nobody waited for":    func(context.Context) error { time.Sleep(1001 * time.Millisecond); return nil },
		"after a timeout of a derived context": func(ctx context.Context) error { return untilCancelled(derivedFrom(ctx)) },
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				stub := stubOf("1")
				stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) { return nil, fail(ctx) }
				probed := false
				stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
					probed = true
					assertLive(t, ctx)
					return nil, nil
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": enforced(time.Second)},
					extension.WithFallback("Query.item", func(ctx context.Context, _ error) (*model.Item, error) {
						assertLive(t, ctx)
						return &model.Item{ID: "fallback"}, nil
					}))
				response := testgraph.Post(requestContext(t), t, server, `{ item(id: "1") { id probe } }`)
				require.Empty(t, response.Errors)
				require.Equal(t, map[string]any{"item": map[string]any{"id": "fallback", "probe": nil}}, response.Data)
				require.True(t, probed)
			})
		})
	}
}

func derivedFrom(ctx context.Context) context.Context {
	derived, cancel := context.WithCancel(context.WithValue(ctx, requestKey{}, "derived"))
	_ = cancel // whoever derives it leaves it to ctx to end it
	return derived
}

func TestChildrenOfAStreamsEventsHaveLiveContexts(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		stub.SubscriptionResolver.Ticks = ticksTo(3)
		probed := 0
		stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) {
			probed++
			assertLive(t, ctx)
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Subscription.ticks": spec})
		events := testgraph.Stream(requestContext(t), t, server, `subscription { ticks { detail } }`)
		require.Len(t, events, 3)
		require.Equal(t, 3, probed)
	})
}

func TestClientThatDisconnectsCancelsChildrenAndWhatTheAttemptLeftRunning(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		var kept, keptBeneath context.Context
		stub := stubOf("1")
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			kept, keptBeneath = derivedFrom(ctx), derivedFrom(ctx)
			return &model.Item{ID: "1"}, nil
		}
		waiting := make(chan struct{})
		ended := &notes[error]{}
		stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
			time.Sleep(5 * time.Second)
			assert.NoError(t, kept.Err(), "the attempt's deadline reached what it had derived")
			close(waiting)
			for _, c := range []context.Context{ctx, kept, keptBeneath, derivedFrom(ctx)} {
				<-c.Done()
				ended.add(c.Err())
			}
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec})
		ctx, disconnect := context.WithCancel(t.Context())
		go func() {
			<-waiting
			disconnect()
		}()
		testgraph.Post(ctx, t, server, `{ item(id: "1") { probe } }`)
		require.Equal(t, []error{context.Canceled, context.Canceled, context.Canceled, context.Canceled}, ended.list())
	})
}

func TestWhoWaitsOnTheContextOfAnAttemptIsReleasedWhenTheOperationEnds(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		var left context.Context
		released := &notes[error]{}
		stub := stubOf("1")
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			left = ctx
			for _, c := range []context.Context{ctx, derivedFrom(ctx)} {
				done := c.Done()
				go func() {
					<-done
					released.add(c.Err())
				}()
			}
			context.AfterFunc(ctx, func() { released.add(context.Cause(ctx)) })
			return &model.Item{ID: "1"}, nil
		}
		stub.ItemResolver.Probe = func(context.Context, *model.Item) (*string, error) {
			time.Sleep(time.Minute)
			assert.Empty(t, released.list())
			return nil, nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec})
		require.Empty(t, testgraph.Post(requestContext(t), t, server, `{ item(id: "1") { probe } }`).Errors)
		synctest.Wait()
		require.Equal(t, []error{context.Canceled, context.Canceled, context.Canceled}, released.list())

		require.ErrorIs(t, left.Err(), context.Canceled)
		require.ErrorIs(t, context.Cause(left), context.Canceled)
		_, limited := left.Deadline()
		require.False(t, limited)
		require.Equal(t, "of the request", left.Value(requestKey{}))
		assertCancels(t, left, context.Canceled, context.Canceled)
	})
}

// assertCancels checks what is derived from a context that has ended.
func assertCancels(t testing.TB, ended context.Context, err, cause error) {
	t.Helper()
	select {
	case <-ended.Done():
	default:
		t.Error("a context with an error is not done")
	}
	derived, cancel := context.WithTimeout(context.WithValue(ended, requestKey{}, "derived"), time.Hour)
	defer cancel()
	<-derived.Done()
	assert.Equal(t, err, derived.Err())
	assert.Equal(t, cause, context.Cause(derived))
	assert.Equal(t, "derived", derived.Value(requestKey{}))
	called := make(chan struct{})
	context.AfterFunc(ended, func() { close(called) })
	<-called
}

func TestAttemptsContextSaysThatItsTimeIsUp(t *testing.T) {
	for mode, spec := range map[string]policy.Spec{"enforced": enforced(time.Second), "cooperative": cooperative(time.Second)} {
		t.Run(mode, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				stub := &testgraph.Stub{}
				stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
					deadline, limited := ctx.Deadline()
					assert.True(t, limited)
					assert.Equal(t, time.Second, time.Until(deadline))
					assert.NoError(t, ctx.Err())
					assert.NoError(t, context.Cause(ctx))
					assert.Equal(t, 1, policy.AttemptFromContext(ctx))
					assert.Equal(t, "of the request", ctx.Value(requestKey{}))
					assert.Equal(t, "text", graphql.GetFieldContext(ctx).Field.Name)
					derived := derivedFrom(ctx)

					<-ctx.Done()
					var timeUp *policy.Error
					assert.Equal(t, context.DeadlineExceeded, ctx.Err())
					assert.ErrorAs(t, context.Cause(ctx), &timeUp)
					assert.ErrorIs(t, timeUp, policy.ErrTimeout)
					assert.Equal(t, "Query.text", timeUp.Source)
					<-derived.Done()
					assert.Equal(t, context.DeadlineExceeded, derived.Err())
					assert.Equal(t, context.Cause(ctx), context.Cause(derived))
					assertCancels(t, ctx, context.DeadlineExceeded, context.Cause(ctx))
					return nil, ctx.Err()
				}
				server, _ := protectSchema(t, h.schema(stub), specs{"Query.text": spec})
				requireTimeout(t, testgraph.Post(requestContext(t), t, server, `{ text }`), "text")
			})
		})
	}
}

func TestContextOfAnAbandonedAttemptStaysCancelled(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		checked := false
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			defer func() { checked = true }()
			time.Sleep(time.Minute)
			var timeUp *policy.Error
			assert.Equal(t, context.DeadlineExceeded, ctx.Err())
			assert.ErrorAs(t, context.Cause(ctx), &timeUp)
			deadline, limited := ctx.Deadline()
			assert.True(t, limited)
			assert.Negative(t, time.Until(deadline))
			assert.Equal(t, 1, policy.AttemptFromContext(ctx))
			assert.Equal(t, "of the request", ctx.Value(requestKey{}))
			assert.Equal(t, "text", graphql.GetFieldContext(ctx).Field.Name)
			assertCancels(t, ctx, context.DeadlineExceeded, context.Cause(ctx))
			return nil, nil
		}
		server, registry := protectSchema(t, h.schema(stub), specs{"Query.text": enforced(time.Second)})
		requireTimeout(t, testgraph.Post(requestContext(t), t, server, `{ text }`), "text")
		requireQuiet(t, registry)
		require.True(t, checked)
	})
}

// lagging is a context whose Err takes its time, as it may on a busy machine.
type lagging struct {
	context.Context
	gate <-chan struct{}
}

func (l lagging) Err() error {
	<-l.gate
	return l.Context.Err()
}

// Package context asks a context that is done for its error, and panics if it has none. That
// of an attempt whose time was up has none any more once the attempt is over.
func TestContextMayBeDerivedAroundTheMomentThatTheTimeIsUp(t *testing.T) {
	for name, derive := range map[string]func(ctx context.Context, derive func()){
		"before": func(ctx context.Context, derive func()) { derive(); <-ctx.Done() },
		"at that moment, on another goroutine": func(ctx context.Context, derive func()) {
			<-ctx.Done()
			go derive()
			synctest.Wait()
		},
	} {
		for mode, spec := range map[string]policy.Spec{"enforced": enforced(time.Second), "cooperative": cooperative(time.Second)} {
			t.Run(name+", "+mode, func(t *testing.T) {
				underEachHook(t, func(t *testing.T, h hook) {
					over, derived := make(chan struct{}), make(chan context.Context, 1)
					stub := stubOf("1")
					stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
						derive(ctx, func() { derived <- derivedFrom(lagging{ctx, over}) })
						return nil, ctx.Err()
					}
					stub.ItemResolver.Probe = func(ctx context.Context, _ *model.Item) (*string, error) {
						close(over)
						assert.Equal(t, context.DeadlineExceeded, untilCancelled(<-derived))
						assertLive(t, ctx)
						return nil, nil
					}
					server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec},
						extension.WithFallback("Query.item", func(context.Context, error) (*model.Item, error) {
							return &model.Item{ID: "fallback"}, nil
						}))
					require.Empty(t, testgraph.Post(requestContext(t), t, server, `{ item(id: "1") { probe } }`).Errors)
				})
			})
		}
	}
}
