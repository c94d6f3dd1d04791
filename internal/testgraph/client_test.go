package testgraph

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

func oneTickPerSecond(ctx context.Context) (<-chan *model.Tick, error) {
	ticks := make(chan *model.Tick)
	go func() {
		defer close(ticks)
		for n := 1; n <= 3; n++ {
			time.Sleep(time.Second)
			select {
			case ticks <- &model.Tick{N: n}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ticks, nil
}

func TestPostAndGetDecodeDataAndErrors(t *testing.T) {
	stub := &Stub{}
	stub.QueryResolver.Text = func(context.Context) (*string, error) { return new("hello"), nil }
	server := NewServer(stub)
	for _, send := range []func(string) Response{
		func(query string) Response { return Post(t.Context(), t, server, query) },
		func(query string) Response { return Get(t.Context(), t, server, query) },
	} {
		response := send(`{ text latestItems { id } }`)
		require.Equal(t, 200, response.Status)
		require.Equal(t, map[string]any{"text": "hello", "latestItems": nil}, response.Data)
		require.Len(t, response.Errors, 1)
		require.Equal(t, "panic: stub: QueryResolver.LatestItems is not plugged in", response.Errors[0].Message)
		require.Equal(t, "latestItems", response.Errors[0].Path.String())
	}
}

func TestPostDeferredReturnsFragmentsInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &Stub{}
		stub.QueryResolver.Items = func(context.Context, *int) ([]*model.Item, error) {
			return []*model.Item{{ID: "1"}, {ID: "2"}}, nil
		}
		stub.ItemResolver.Slow = func(_ context.Context, item *model.Item) (*string, error) {
			if item.ID == "1" {
				time.Sleep(time.Minute)
			}
			return new("slow" + item.ID), nil
		}
		responses := PostDeferred(t.Context(), t, NewServer(stub), `{ items { id ... @defer(label: "s") { slow } } }`)
		require.Len(t, responses, 3)
		require.True(t, responses[0].HasNext)
		for i, want := range []string{"slow2", "slow1"} {
			require.Equal(t, "s", responses[i+1].Label)
			require.Equal(t, map[string]any{"slow": want}, responses[i+1].Data)
		}
		require.False(t, responses[2].HasNext)
	})
}

func TestStreamReturnsEventsUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &Stub{}
		stub.SubscriptionResolver.Ticks = oneTickPerSecond
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		events := Stream(ctx, t, NewServer(stub), `subscription { ticks { n } }`)
		require.Len(t, events, 2)
		require.Equal(t, map[string]any{"ticks": map[string]any{"n": 2.0}}, events[1].Data)
		time.Sleep(time.Minute)
	})
}

func TestSocketReceivesEventsUntilTheStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &Stub{}
		stub.SubscriptionResolver.Ticks = oneTickPerSecond
		socket := Dial(t.Context(), t, NewServer(stub))
		socket.Subscribe(`subscription { ticks { n } }`)
		for n := 1.0; n <= 3; n++ {
			event, more := socket.Next()
			require.True(t, more)
			require.Equal(t, map[string]any{"ticks": map[string]any{"n": n}}, event.Data)
		}
		_, more := socket.Next()
		require.False(t, more)
	})
}

func TestSocketReportsARefusedOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		socket := Dial(t.Context(), t, NewServer(&Stub{}))
		socket.Subscribe(`subscription { unknown }`)
		refusal, more := socket.Next()
		require.False(t, more)
		require.Len(t, refusal.Errors, 1)
	})
}

func TestClosingASocketCancelsItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &Stub{}
		var streamContext context.Context
		stub.SubscriptionResolver.Ticks = func(ctx context.Context) (<-chan *model.Tick, error) {
			streamContext = ctx
			return oneTickPerSecond(ctx)
		}
		socket := Dial(t.Context(), t, NewServer(stub))
		socket.Subscribe(`subscription { ticks { n } }`)
		socket.Next()
		socket.Close()
		synctest.Wait()
		require.ErrorIs(t, streamContext.Err(), context.Canceled)
		time.Sleep(time.Minute)
	})
}
