package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestOutageOfTheCarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		answer, _ := shop.ask(quotesQuery)
		assert.JSONEq(t, liveQuotes, answer)
		assert.Equal(t, carrier.Calls{Seen: 1}, shop.calls())

		shop.stub.SetMode(carrier.ModeHang)
		for range 4 {
			answer, took := shop.ask(quotesQuery)
			assert.JSONEq(t, timedOut, answer)
			assert.GreaterOrEqual(t, took, 3*time.Second)
			assert.LessOrEqual(t, took, 3200*time.Millisecond)
			assert.Equal(t, carrier.Calls{Seen: 2, Cancelled: 2}, shop.calls())
			assert.Equal(t, policy.StateClosed, shop.breaker().State())
		}

		answer, took := shop.ask(quotesQuery)
		assert.JSONEq(t, flatQuotes, answer)
		assert.GreaterOrEqual(t, took, 1500*time.Millisecond)
		assert.LessOrEqual(t, took, 1700*time.Millisecond)
		assert.Equal(t, carrier.Calls{Seen: 1, Cancelled: 1}, shop.calls())
		assert.Equal(t, policy.StateOpen, shop.breaker().State())

		answer, took = shop.ask(bookMutation)
		assert.JSONEq(t, `{"data": {"createShipment": null}, "errors": [{
			"message": "Service temporarily unavailable", "path": ["createShipment"], "locations": [{"line": 1, "column": 12}],
			"extensions": {"code": "CIRCUIT_OPEN", "httpStatus": 503, "retryAfter": 30}}]}`, answer)
		assert.Zero(t, took)

		shop.stub.SetMode(carrier.ModeOK)
		time.Sleep(29 * time.Second)
		answer, took = shop.ask(quotesQuery)
		assert.JSONEq(t, flatQuotes, answer)
		assert.Zero(t, took)
		assert.Zero(t, shop.calls())

		time.Sleep(time.Second)
		assert.Equal(t, policy.StateHalfOpen, shop.breaker().State())
		answer, _ = shop.ask(quotesQuery)
		assert.JSONEq(t, liveQuotes, answer)
		assert.Equal(t, carrier.Calls{Seen: 1}, shop.calls())
		assert.Equal(t, policy.StateClosed, shop.breaker().State())
		require.NoError(t, shop.registry.Wait(t.Context()))
	})
}

func TestCallThatEndsLateIsRetriedAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.transport.parting = 200 * time.Millisecond
		shop.stub.SetMode(carrier.ModeHang)
		answer, took := shop.ask(quotesQuery)
		assert.JSONEq(t, timedOut, answer)
		assert.GreaterOrEqual(t, took, 3400*time.Millisecond)
		assert.Equal(t, carrier.Calls{Seen: 2, Cancelled: 2}, shop.calls())
	})
}

func TestUnknownOrderIsNeitherRetriedNorCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		for field, query := range map[string]string{
			"order":          `{ order(id: "9") { id } }`,
			"shippingQuotes": `{ shippingQuotes(orderId: "9") { price } }`,
			"createShipment": `mutation { createShipment(orderId: "9") { id } }`,
			"updateOrder":    `mutation { updateOrder(orderId: "9", address: "Rome") { id } }`,
		} {
			answer, took := shop.ask(query)
			assert.Contains(t, answer, `"message":"There is no order \"9\""`, field)
			assert.Contains(t, answer, `"extensions":{"code":"NOT_FOUND"}`, field)
			assert.Contains(t, answer, `"data":{"`+field+`":null}`)
			assert.Zero(t, took)
		}
		assert.Zero(t, shop.calls())
		assert.Zero(t, shop.breaker().Stats().Calls)
	})
}

func TestBookingIsRetriedAndRedirectingIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const redirectMutation = `mutation { updateOrder(orderId: "1001", address: "Rome") { address status } }`
		shop := newTestShop(t)
		shop.stub.SetMode(carrier.ModeFail)
		for query, attempts := range map[string]int{bookMutation: 2, redirectMutation: 1} {
			answer, _ := shop.ask(query)
			assert.Contains(t, answer, `"code":"CARRIER_FAILED"`)
			assert.Equal(t, carrier.Calls{Seen: attempts}, shop.calls())
		}

		shop.stub.SetMode(carrier.ModeFlaky)
		answer, _ := shop.ask(bookMutation)
		assert.JSONEq(t, booked, answer)
		assert.Equal(t, carrier.Calls{Seen: 2}, shop.calls())

		answer, _ = shop.ask(redirectMutation)
		assert.Contains(t, answer, `"message":"The carrier failed"`)
		assert.Contains(t, answer, `"code":"CARRIER_FAILED"`)
		assert.Equal(t, carrier.Calls{Seen: 1}, shop.calls())

		answer, _ = shop.ask(redirectMutation)
		assert.JSONEq(t, `{"data": {"updateOrder": {"address": "Rome", "status": "SHIPPED"}}}`, answer)
	})
}

func TestBusyCarrierIsAskedAgainWhenItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.stub.SetMode(carrier.ModeBusy)
		answer, took := shop.ask(quotesQuery)
		assert.Contains(t, answer, `"code":"CARRIER_FAILED"`)
		assert.GreaterOrEqual(t, took, time.Second)
		assert.Equal(t, carrier.Calls{Seen: 2}, shop.calls())
		assert.Equal(t, 2, shop.breaker().Stats().Failures)
	})
}

func TestRefusedParcelIsNotTheCarriersFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.stub.SetMode(carrier.ModeRefuse)
		answer, _ := shop.ask(bookMutation)
		assert.Contains(t, answer, `"extensions":{"code":"PARCEL_REFUSED"}`)
		assert.Equal(t, carrier.Calls{Seen: 1}, shop.calls())
		assert.Zero(t, shop.breaker().Stats().Calls)
	})
}

func TestClientsDoNotSeeTheCarriersAddressOrStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.stub.SetMode(carrier.ModeFail)
		answer, _ := shop.ask(quotesQuery)
		assert.JSONEq(t, `{"data": {"shippingQuotes": null}, "errors": [{
			"message": "The carrier failed", "path": ["shippingQuotes"], "locations": [{"line": 1, "column": 3}],
			"extensions": {"code": "CARRIER_FAILED"}}]}`, answer)
	})
}

func TestEachOrderOfAListHasQuotesOrAnErrorOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.breaker().Trip()
		answer, _ := shop.ask(`{ orders { id quotes { service } } }`)
		for _, part := range []string{
			`{"id":"1001","quotes":null}`, `{"id":"1005","quotes":null}`,
			`"path":["orders",0,"quotes"]`, `"path":["orders",4,"quotes"]`,
		} {
			assert.Contains(t, answer, part)
		}
		assert.Zero(t, shop.calls())

		shop.breaker().Reset()
		answer, _ = shop.ask(`{ orders { quotes { service } } }`)
		assert.NotContains(t, answer, "errors")
		assert.Equal(t, carrier.Calls{Seen: 5}, shop.calls())

		shop.breaker().Trip()
		time.Sleep(12 * time.Second)
		answer, _ = shop.ask(`{ orders { quotes { service } } }`)
		assert.NotContains(t, answer, "errors", "the quotes of before are still good")
		assert.Contains(t, answer, `{"path":["orders",4,"quotes"],"code":"CIRCUIT_OPEN","age":12}`)
		assert.Zero(t, shop.calls())
	})
}

func TestAQueryForAThousandOrdersSparesACarrierThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which ends when no goroutine is left
		shop := newTestShop(t)
		shop.stub.SetMode(carrier.ModeFail)
		shop.transport.latency = 50 * time.Millisecond
		var query strings.Builder
		query.WriteString("{")
		for i := range 200 {
			fmt.Fprintf(&query, " part%d: orders { quotes { service } }", i)
		}
		query.WriteString(" }")

		answer, _ := shop.ask(query.String())

		var response struct {
			Data   map[string][]struct{ Quotes []any }
			Errors []struct{ Path []any }
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &response))
		require.Len(t, response.Data, 200)
		require.Len(t, response.Errors, 1000)
		paths := map[string]bool{}
		for _, err := range response.Errors {
			paths[fmt.Sprint(err.Path)] = true
		}
		require.Len(t, paths, 1000, "each order has an error of its own")
		assert.Equal(t, policy.StateOpen, shop.breaker().State())
		// The tenth failure opens the circuit, which eight attempts at once may each overlook.
		assert.LessOrEqual(t, shop.calls().Seen, 10+8-1)
	})
}

func TestExportsRunInTwosAndWaitInThrees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		var running sync.WaitGroup
		durations := make([]time.Duration, 5)
		for i := range durations {
			running.Go(func() {
				answer, took := shop.ask(`{ exportOrders }`)
				assert.Contains(t, answer, "tuna-85")
				durations[i] = took
			})
		}
		synctest.Wait()
		answer, took := shop.ask(`{ exportOrders }`)
		assert.Contains(t, answer, `"extensions":{"code":"BULKHEAD_FULL","httpStatus":503}`)
		assert.Zero(t, took)
		running.Wait()
		slices.Sort(durations)
		assert.Equal(t, []time.Duration{2 * time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second, 6 * time.Second}, durations)
	})
}
