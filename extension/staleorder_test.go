package extension_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

var errForbidden = &gqlerror.Error{Message: "not yours any more", Extensions: map[string]any{"code": "FORBIDDEN"}}

// taking is a resolver whose calls take as long as each says, the first call the first.
func taking(calls ...func() (*string, error)) func(context.Context) (*string, error) {
	var mu sync.Mutex
	return func(context.Context) (*string, error) {
		mu.Lock()
		call := calls[0]
		calls = calls[1:]
		mu.Unlock()
		return call()
	}
}

func after(d time.Duration, text string) func() (*string, error) {
	return func() (*string, error) {
		time.Sleep(d)
		return new(text), nil
	}
}

func fails(err error) func() (*string, error) {
	return func() (*string, error) { return nil, err }
}

// askAt asks the server at each of these seconds, not waiting for what it asked before, and
// returns what the last one was answered.
func askAt(t *testing.T, ask func() string, seconds ...int) string {
	t.Helper()
	start := time.Now()
	var asking sync.WaitGroup
	defer asking.Wait()
	for _, second := range seconds[:len(seconds)-1] {
		time.Sleep(time.Until(start.Add(time.Duration(second) * time.Second)))
		asking.Go(func() { ask() })
	}
	time.Sleep(time.Until(start.Add(time.Duration(seconds[len(seconds)-1]) * time.Second)))
	return ask()
}

func TestWhatWasUnderWayWhenItsValueWasForgottenIsNotKept(t *testing.T) {
	for name, row := range map[string]struct {
		calls []func() (*string, error)
		at    []int
		want  string
	}{
		"a call that began before": {[]func() (*string, error){after(10*time.Second, "secret"), fails(errForbidden), fails(errDown)},
			[]int{0, 1, 11}, onTheWire(errDown.Error(), "")},
		"a call that began after": {[]func() (*string, error){fails(errForbidden), after(0, "yours again"), fails(errDown)},
			[]int{0, 1, 2}, `{"data":{"text":"yours again"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				server := serving(t, h.schema(textStub(taking(row.calls...))), staleText(), extension.WithoutDegraded())
				require.Equal(t, row.want, askAt(t, func() string { return rawPost(t.Context(), t, server, `{ text }`) }, row.at...))
			})
		})
	}
}

// A loader, or gqlgen's batch, may have read it for another field of the operation.
func TestWhatAnOperationReadBeforeItsValueWasForgottenIsNotKept(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := &testgraph.Stub{}
		var asked atomic.Int32
		stub.QueryResolver.Item = func(_ context.Context, id string) (*model.Item, error) {
			item := &model.Item{ID: id, Name: "secret"}
			if asked.Add(1) == 1 {
				time.Sleep(10 * time.Second)
			}
			return item, nil
		}
		stub.ItemResolver.Slow = func(ctx context.Context, item *model.Item) (*string, error) {
			if err, ok := ctx.Value(userKey{}).(error); ok {
				return nil, err
			}
			return &item.Name, nil
		}
		server := serving(t, h.schema(stub), extension.WithoutDegraded(),
			extension.WithStale("Item.slow", extension.Stale{MaxAge: time.Hour, MaxEntries: 9, Key: byItem}))
		ask := func(err error) string {
			return rawPost(context.WithValue(t.Context(), userKey{}, err), t, server, `{ item(id: 1) { slow } }`)
		}
		var asking sync.WaitGroup
		asking.Go(func() { ask(nil) })
		time.Sleep(time.Second)
		ask(errForbidden)
		asking.Wait()
		require.Contains(t, ask(errDown), `{"slow":null}`)
	})
}

func TestOfSeveralCallsTheValueOfTheOneThatBeganLastIsKept(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := serving(t, h.schema(textStub(taking(after(10*time.Second, "old"), after(0, "new"), fails(errDown)))), staleText())
		require.Equal(t, `{"data":{"text":"new"},"extensions":{"degraded":[{"path":["text"],"code":"INTERNAL","age":11}]}}`,
			askAt(t, func() string { return rawPost(t.Context(), t, server, `{ text }`) }, 0, 1, 12))
	})
}

func TestTheAgeOfAValueCountsFromTheBeginningOfItsCall(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		server := serving(t, h.schema(textStub(taking(after(10*time.Second, "slow"), fails(errDown), fails(errDown)))), staleText())
		text := func() string { return rawPost(t.Context(), t, server, `{ text }`) }
		require.Contains(t, askAt(t, text, 0, 60), `"age":60`)
		time.Sleep(time.Nanosecond)
		require.Equal(t, onTheWire(errDown.Error(), ""), text(), "it is older than its MaxAge")
	})
}
