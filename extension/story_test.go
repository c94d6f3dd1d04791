package extension_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestOneFailingCallInAListFailsOnlyItsOwnField(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := stubOf("1", "2", "3", "4", "5")
		stub.ItemResolver.Quotes = func(_ context.Context, item *model.Item) ([]*model.Quote, error) {
			if item.ID == "2" || item.ID == "4" {
				return nil, fmt.Errorf("no carrier for %s", item.ID)
			}
			return []*model.Quote{{Service: "express " + item.ID}}, nil
		}
		server := h.protect(stub, newRegistry(t, nil), underPreset("Item.quotes", "dependency"))
		response := testgraph.Post(t.Context(), t, server, `{ items { id quotes { service } } }`)

		quoted := func(id string) any {
			return map[string]any{"id": id, "quotes": []any{map[string]any{"service": "express " + id}}}
		}
		unquoted := func(id string) any { return map[string]any{"id": id, "quotes": nil} }
		require.Equal(t, http.StatusOK, response.Status)
		require.Equal(t, []any{quoted("1"), unquoted("2"), quoted("3"), unquoted("4"), quoted("5")}, response.Data["items"])
		messages := map[string]string{}
		for _, err := range response.Errors {
			messages[err.Path.String()] = err.Message
		}
		require.Equal(t, map[string]string{"items[1].quotes": "no carrier for 2", "items[3].quotes": "no carrier for 4"}, messages)
	})
}

// carrier is a dependency behind Query.text that answers, or hangs until it is given up on.
type carrier struct {
	up    atomic.Bool
	calls atomic.Int32
}

func (c *carrier) quote(ctx context.Context) (*string, error) {
	c.calls.Add(1)
	if c.up.Load() {
		return new("live"), nil
	}
	return nil, untilCancelled(ctx)
}

// carrierPreset is the preset of the story: two attempts of 1.5 s, and a breaker that opens when half
// of at least ten calls failed.
func carrierPreset() presets {
	return presets{"carrier": {
		Timeout:        &policy.TimeoutSpec{Duration: new(1500 * time.Millisecond)},
		Retry:          &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Delay: new(200 * time.Millisecond), Jitter: new(policy.JitterNone)}},
		CircuitBreaker: &policy.CircuitBreakerSpec{FailureRate: new(50), MinimumCalls: new(10), OpenDuration: new(30 * time.Second)},
	}}
}

func TestAnOutageFromTheFirstTimeoutToTheRecovery(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		carrier := &carrier{}
		registry := newRegistry(t, carrierPreset())
		breaker, _ := registry.CircuitBreaker("carrier")
		server := h.protect(textStub(carrier.quote), registry, underPreset("Query.text", "carrier"),
			extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return new("flat-rate"), nil }, extension.When(policy.ErrCircuitOpen)))
		post := func(calls int32, took time.Duration) any {
			t.Helper()
			before, began := carrier.calls.Load(), time.Now()
			response := testgraph.Post(t.Context(), t, server, `{ text }`)
			require.Equal(t, http.StatusOK, response.Status)
			require.Equal(t, calls, carrier.calls.Load()-before, "calls")
			require.Equal(t, took, time.Since(began))
			if len(response.Errors) > 0 {
				return response.Errors[0].Extensions["code"]
			}
			return response.Data["text"]
		}

		carrier.up.Store(true)
		require.Equal(t, "live", post(1, 0))
		carrier.up.Store(false)
		for range 4 {
			require.Equal(t, "TIMEOUT", post(2, 3200*time.Millisecond))
		}
		require.Equal(t, policy.StateClosed, breaker.State(), "eight of nine calls failed")
		require.Equal(t, "flat-rate", post(1, 1700*time.Millisecond), "the tenth call opens the circuit, the second attempt is rejected")
		require.Equal(t, policy.StateOpen, breaker.State())
		require.Equal(t, "flat-rate", post(0, 0))

		for range 3 { // it still hangs
			time.Sleep(breaker.Stats().RetryAfter)
			require.Equal(t, policy.StateHalfOpen, breaker.State())
			before := carrier.calls.Load()
			began := time.Now()
			var users sync.WaitGroup
			for range 20 {
				users.Go(func() {
					assert.Equal(t, "flat-rate", testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"])
				})
			}
			users.Wait()
			require.EqualValues(t, 1, carrier.calls.Load()-before, "one request of twenty probes")
			require.Equal(t, 1700*time.Millisecond, time.Since(began))
			require.Equal(t, policy.StateOpen, breaker.State())
		}

		carrier.up.Store(true)
		require.Equal(t, "flat-rate", post(0, 0), "not before the time is over")
		time.Sleep(breaker.Stats().RetryAfter)
		require.Equal(t, "live", post(1, 0), "the probe")
		require.Equal(t, policy.StateClosed, breaker.State())
		require.Equal(t, "live", post(1, 0))
	})
}

func TestTheSurplusOfABulkheadIsRefusedAtOnce(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, presets{"export": {Bulkhead: &policy.BulkheadSpec{
			MaxConcurrent: new(2), MaxQueue: new(3), QueueTimeout: new(10 * time.Second),
		}}})
		bulkhead, _ := registry.Bulkhead("export")
		server := h.protect(textStub(func(context.Context) (*string, error) {
			time.Sleep(4 * time.Second)
			return new("csv"), nil
		}), registry, underPreset("Query.text", "export"))

		var mu sync.Mutex
		outcomes := map[string]int{}
		began := time.Now()
		var users sync.WaitGroup
		for range 8 {
			users.Go(func() {
				body := rawPost(t.Context(), t, server, `{ text }`)
				mu.Lock()
				defer mu.Unlock()
				outcomes[fmt.Sprintf("%v: %s", time.Since(began), body)]++
			})
		}
		synctest.Wait()
		require.Equal(t, []int{2, 3}, []int{bulkhead.Running(), bulkhead.Queued()})
		users.Wait()
		require.Equal(t, map[string]int{
			"0s: " + onTheWire("Server is at capacity", `,"extensions":{"code":"BULKHEAD_FULL","httpStatus":503}`): 3,
			`4s: {"data":{"text":"csv"}}`:  2,
			`8s: {"data":{"text":"csv"}}`:  2,
			`12s: {"data":{"text":"csv"}}`: 1,
		}, outcomes)
		require.Zero(t, bulkhead.Running())
	})
}

func TestABulkheadHasItsFullCapacityBackAfterStorms(t *testing.T) {
	for name, spec := range map[string]policy.Spec{
		"untimed":     {},
		"enforced":    {Timeout: &policy.TimeoutSpec{Duration: new(30 * time.Millisecond)}},
		"cooperative": {Timeout: &policy.TimeoutSpec{Duration: new(30 * time.Millisecond), Mode: new(policy.Cooperative)}},
		"total":       {Timeout: &policy.TimeoutSpec{Total: new(45 * time.Millisecond)}},
		"holding": {Timeout: &policy.TimeoutSpec{Duration: new(30 * time.Millisecond)},
			Bulkhead: &policy.BulkheadSpec{HoldAbandoned: new(true)}},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				if spec.Bulkhead == nil {
					spec.Bulkhead = &policy.BulkheadSpec{}
				}
				spec.Bulkhead.MaxConcurrent, spec.Bulkhead.MaxQueue, spec.Bulkhead.QueueTimeout = new(2), new(3), new(25*time.Millisecond)
				registry := newRegistry(t, presets{"export": spec})
				bulkhead, _ := registry.Bulkhead("export")
				var storm atomic.Bool
				storm.Store(true)
				server := h.protect(textStub(func(ctx context.Context) (*string, error) {
					if !storm.Load() {
						time.Sleep(10 * time.Millisecond)
						return new("csv"), nil
					}
					switch rand.IntN(5) {
					case 0:
						return nil, untilCancelled(ctx)
					case 1:
						panic("boom")
					case 2:
						time.Sleep(60 * time.Millisecond) // whatever the context says
					case 3:
						time.Sleep(5 * time.Millisecond)
					}
					return nil, errors.New("down")
				}), registry, underPreset("Query.text", "export"))

				var users sync.WaitGroup
				for i := range 300 {
					users.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rand.IntN(50))*time.Millisecond)
						defer cancel()
						testgraph.Post(ctx, t, server, `{ text }`)
					})
				}
				users.Wait()
				require.NoError(t, registry.Wait(t.Context()))
				require.Equal(t, []int{0, 0}, []int{bulkhead.Running(), bulkhead.Queued()})

				storm.Store(false)
				var served atomic.Int32
				for range 6 {
					users.Go(func() {
						if testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"] == "csv" {
							served.Add(1)
						}
					})
				}
				users.Wait()
				require.EqualValues(t, 5, served.Load(), "two at a time, three in the queue, one too many")
			})
		})
	}
}

func TestAClientThatDisconnectsCancelsTheAttemptAndMovesNoBreaker(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		registry := newRegistry(t, carrierPreset())
		breaker, _ := registry.CircuitBreaker("carrier")
		reached, ended := 0, 0
		server := h.protect(textStub(func(ctx context.Context) (*string, error) {
			reached++
			defer func() { ended++ }()
			return nil, untilCancelled(ctx)
		}), registry, underPreset("Query.text", "carrier"))
		disconnect := func() {
			t.Helper()
			before := breaker.Stats()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			began := time.Now()
			testgraph.Post(ctx, t, server, `{ text }`)
			require.Equal(t, time.Second, time.Since(began))
			require.Equal(t, reached, ended)
			after := breaker.Stats()
			require.Equal(t, [3]int{before.Calls, before.Failures, before.Probes}, [3]int{after.Calls, after.Failures, after.Probes})
		}

		for range 20 {
			disconnect()
		}
		require.Equal(t, policy.StateClosed, breaker.State())
		require.Equal(t, 20, reached, "one attempt each")

		breaker.Trip()
		time.Sleep(30 * time.Second)
		for range 5 {
			disconnect()
			require.Equal(t, policy.StateHalfOpen, breaker.State(), "the probe gave its place back")
		}
		require.Equal(t, 25, reached)
		require.Equal(t, "CIRCUIT_OPEN", testgraph.Post(t.Context(), t, server, `{ text }`).Errors[0].Extensions["code"],
			"a probe that timed out is another matter: it opens the circuit to the second attempt")
	})
}
