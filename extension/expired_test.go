package extension_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Contexts that merge two others crash the process where Done is closed and Err nil.
func TestWhoeverSeesATimedOutAttemptDoneFindsItsErr(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		var beside sync.WaitGroup
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			for range 20 {
				beside.Go(func() {
					<-ctx.Done()
					assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
				})
			}
			return nil, untilCancelled(ctx)
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.text": spec})
		for range 20 {
			requireTimeout(t, testgraph.Post(requestContext(t), t, server, `{ text }`), "text")
		}
		beside.Wait()
	})
}

func TestTheCauseOfATimeoutIsKnownAtTheMomentOfIt(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		var kept, derived context.Context
		server, _ := protectSchema(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
			_, _ = ctx.Deadline()
			if kept = ctx; derived != nil {
				derived = derivedFrom(ctx)
			}
			time.Sleep(time.Second)
			assert.ErrorIs(t, context.Cause(ctx), policy.ErrTimeout)
			return nil, errDown
		})), specs{"Query.text": spec})
		for range 50 {
			requireTimeout(t, testgraph.Post(t.Context(), t, server, `{ text }`), "text")
			if derived != nil {
				require.ErrorIs(t, context.Cause(derived), policy.ErrTimeout)
			}
			derived = derivedFrom(kept) // late
			require.Equal(t, context.DeadlineExceeded, untilCancelled(derived))
			require.ErrorIs(t, context.Cause(derived), policy.ErrTimeout)
		}
	})
}

func TestAPresenterOfATimeoutGetsALiveContext(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		stub.QueryResolver.Text = hanging
		server := h.server(stub)
		presented := 0
		server.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
			presented++
			assertLive(t, ctx)
			return graphql.DefaultErrorPresenter(ctx, err)
		})
		protectServer(t, server, specs{"Query.text": spec})
		requireTimeout(t, testgraph.Post(requestContext(t), t, server, `{ text }`), "text")
		require.Equal(t, 1, presented)
	})
}

func TestADeadlineDerivedInAnAttemptOutlivesTheAttempts(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1")
		var kept context.Context
		var begun time.Time
		stub.QueryResolver.Item = func(ctx context.Context, _ string) (*model.Item, error) {
			begun = time.Now()
			var cancel context.CancelFunc
			kept, cancel = context.WithTimeout(ctx, 5*time.Second) // more than the attempt has
			context.AfterFunc(kept, cancel)
			return &model.Item{ID: "1"}, nil
		}
		stub.ItemResolver.Probe = func(context.Context, *model.Item) (*string, error) {
			<-kept.Done()
			assert.Equal(t, 5*time.Second, time.Since(begun))
			assert.ErrorIs(t, kept.Err(), context.DeadlineExceeded)
			return new("probed"), nil
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.item": spec})
		response := testgraph.Post(requestContext(t), t, server, `{ item(id: "1") { probe } }`)
		require.Equal(t, map[string]any{"item": map[string]any{"probe": "probed"}}, response.Data)
	})
}

func TestWhatHangsOnAFailedAttemptEndsWithTheNext(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		var kept []context.Context
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			for _, before := range kept {
				assert.Error(t, before.Err())
			}
			kept = append(kept, derivedFrom(ctx))
			assert.NoError(t, kept[len(kept)-1].Err())
			return nil, errDown
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.text": retrying(spec, 3)})
		testgraph.Post(requestContext(t), t, server, `{ text }`)
		require.Len(t, kept, 3)
	})
}

func TestTheContextOfAFailedAttemptHasEndedOnceTheNextBegins(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		stub := &testgraph.Stub{}
		var before context.Context
		stub.QueryResolver.Text = func(ctx context.Context) (*string, error) {
			if before != nil {
				<-before.Done() // asked for only now
				assert.ErrorIs(t, before.Err(), context.Canceled)
			}
			before = ctx
			return nil, errDown
		}
		server, _ := protectSchema(t, h.schema(stub), specs{"Query.text": retrying(spec, 2)})
		require.Equal(t, []string{"text: " + errDown.Error()}, messages(testgraph.Post(requestContext(t), t, server, `{ text }`)))
	})
}

func TestAFieldThatTwoExtensionsWantRunsUnderThePolicyOfTheFirst(t *testing.T) {
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprint("the same extension: ", same), func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				var calls atomic.Int32
				server := h.server(textStub(func(context.Context) (*string, error) {
					calls.Add(1)
					time.Sleep(time.Minute)
					return nil, nil
				}))
				registry := newRegistry(t, nil)
				first := extension.New(registry, extension.WithField("Query.text", extension.Field{Spec: retrying(enforced(time.Second), 3)}))
				second := first
				if !same {
					second = extension.New(registry, extension.WithField("Query.text", extension.Field{Spec: retrying(enforced(time.Millisecond), 3)}))
				}
				server.Use(first)
				server.Use(second)
				begun := time.Now()
				requireTimeout(t, testgraph.Post(t.Context(), t, server, `{ text }`), "text")
				attempts := 1
				if h.guarded { // it is retried beside itself
					attempts = 3
				}
				require.Equal(t, time.Duration(attempts)*1010*time.Millisecond, time.Since(begun))
				requireQuiet(t, registry)
				require.EqualValues(t, attempts, calls.Load())
			})
		})
	}
}

func TestAFuncOfTheUsersThatPanicsBesideAnAbandonedAttemptIsTheFieldsError(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		spec := enforced(time.Second)
		spec.CircuitBreaker = &policy.CircuitBreakerSpec{RecordIf: func(error) bool { panic("recordIf") }}
		server, registry := protectSchema(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
			time.Sleep(time.Minute)
			graphql.AddErrorf(ctx, "late")
			return nil, nil
		})), specs{"Query.text": spec})
		response := testgraph.Post(t.Context(), t, server, `{ text }`)
		require.Equal(t, []string{"text: panic: recordIf"}, messages(response))
		requireQuiet(t, registry)
	})
}

func TestErrorsAddedBeforeAPanicAreReported(t *testing.T) {
	inEachMode(t, time.Second, func(t *testing.T, h hook, spec policy.Spec) {
		server, _ := protectSchema(t, h.schema(textStub(func(ctx context.Context) (*string, error) {
			graphql.AddErrorf(ctx, "detail")
			panic("boom")
		})), specs{"Query.text": spec})
		require.Equal(t, []string{"text: detail", "text: panic: boom"}, messages(testgraph.Post(t.Context(), t, server, `{ text }`)))
	})
}

func TestAllItemsOfABatchThatTimesOutSaySo(t *testing.T) {
	inBothTimedModes(t, func(t *testing.T, h hook, spec policy.Spec) {
		stub := stubOf("1", "2", "3")
		stub.ItemResolver.Stock = func(ctx context.Context, _ []*model.Item) ([]*int, error) { return nil, untilCancelled(ctx) }
		spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(10)}
		server, _ := protectSchema(t, h.schema(stub), specs{"Item.stock": spec})
		oneAtATime(server, "stock")
		response := testgraph.Post(requestContext(t), t, server, `{ items { stock } }`)
		require.Len(t, response.Errors, 3)
		for _, err := range response.Errors {
			require.Equal(t, "TIMEOUT", err.Extensions["code"], err)
		}
	})
}

func TestARefusedUseMakesNothing(t *testing.T) {
	registry := newRegistry(t, nil)
	breaker := func(calls int) extension.Option {
		return extension.WithField("Query.text", extension.Field{Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: &calls}}})
	}
	schema := testgraph.NewSchema(&testgraph.Stub{})
	require.Error(t, extension.New(registry, breaker(5), extension.WithField("Query.texd", extension.Field{Spec: untimed()})).Validate(schema))
	_, made := registry.CircuitBreaker("Query.text")
	require.False(t, made)
	require.NoError(t, extension.New(registry, breaker(6)).Validate(schema))
}
