package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestRepricerPricesPendingOrdersAtEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.ask(bookMutation)
		shop.calls()
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			shop.repricer.run(ctx, time.Minute)
		}()
		time.Sleep(30 * time.Second)
		assert.Zero(t, shop.calls())
		for range 2 {
			time.Sleep(time.Minute)
			assert.Equal(t, carrier.Calls{Seen: 4}, shop.calls())
		}
		answer, _ := shop.ask(`{ shipped: order(id: "1001") { lastQuote { price } } pending: order(id: "1002") { lastQuote { service price } } }`)
		assert.JSONEq(t, `{"data": {"shipped": {"lastQuote": null}, "pending": {"lastQuote": {"service": "standard", "price": 5.18}}}}`, answer)
		cancel()
		<-stopped
	})
}

func TestRepricersFailuresOpenTheCircuitForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.stub.SetMode(carrier.ModeFail)
		priced, err := shop.repricer.reprice(t.Context())
		assert.Zero(t, priced)
		assert.ErrorContains(t, err, "order 1005: carrier: quotes: HTTP status 500")
		assert.Equal(t, carrier.Calls{Seen: 10}, shop.calls())

		answer, _ := shop.ask(quotesQuery)
		assert.JSONEq(t, flatQuotes, answer)
		priced, err = shop.repricer.reprice(t.Context())
		assert.Zero(t, priced)
		assert.ErrorIs(t, err, policy.ErrCircuitOpen)
		assert.Zero(t, shop.calls())
	})
}

func TestRepricerStopsInTheMiddleOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newTestShop(t)
		shop.stub.SetMode(carrier.ModeHang)
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			shop.repricer.run(ctx, time.Minute)
		}()
		time.Sleep(61 * time.Second)
		start := time.Now()
		cancel()
		<-stopped
		assert.Zero(t, time.Since(start))
		assert.Equal(t, carrier.Calls{Seen: 1, Cancelled: 1}, shop.calls())
	})
}
