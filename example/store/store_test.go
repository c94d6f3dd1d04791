package store

import (
	"context"
	"encoding/csv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/example/graph/model"
)

func TestOrdersExistAtStart(t *testing.T) {
	var ids []string
	for _, order := range New(0).Orders() {
		ids = append(ids, order.ID)
		assert.Equal(t, model.OrderStatusPending, order.Status)
		assert.NotEmpty(t, order.Items)
		assert.Positive(t, order.Weight)
	}
	assert.Equal(t, []string{"1001", "1002", "1003", "1004", "1005"}, ids)
}

func TestUnknownOrderIsAnErrorOfEveryMethod(t *testing.T) {
	store := New(0)
	_, err := store.Order("9999")
	assert.ErrorIs(t, err, ErrNotFound)
	_, err = store.Ship("9999", &model.Shipment{})
	assert.ErrorIs(t, err, ErrNotFound)
	_, err = store.Redirect("9999", "Rome")
	assert.ErrorIs(t, err, ErrNotFound)
	assert.ErrorIs(t, store.SetLastQuote("9999", nil), ErrNotFound)
}

func TestShippingAgainChangesNothing(t *testing.T) {
	store := New(0)
	events := store.Subscribe(t.Context(), "")
	first, second := &model.Shipment{ID: "1"}, &model.Shipment{ID: "2"}
	for _, shipment := range []*model.Shipment{first, second} {
		recorded, err := store.Ship("1001", shipment)
		require.NoError(t, err)
		assert.Same(t, first, recorded)
	}
	order, err := store.Order("1001")
	require.NoError(t, err)
	assert.Equal(t, model.OrderStatusShipped, order.Status)
	assert.Len(t, events, 1)
	assert.Len(t, store.Pending(), 4)
}

func TestReturnedOrdersAreCopies(t *testing.T) {
	store := New(0)
	store.Orders()[0].Address = "elsewhere"
	order, err := store.Order("1001")
	require.NoError(t, err)
	assert.Equal(t, "3 Harbour Lane, Bristol", order.Address)
}

func TestSubscribersGetTheEventsOfTheirOrder(t *testing.T) {
	store := New(0)
	all := store.Subscribe(t.Context(), "")
	one := store.Subscribe(t.Context(), "1002")
	_, err := store.Ship("1001", &model.Shipment{ID: "1"})
	require.NoError(t, err)
	_, err = store.Redirect("1002", "Rome")
	require.NoError(t, err)

	created := <-all
	assert.Equal(t, model.ShipmentEventKindCreated, created.Kind)
	assert.Equal(t, "1001", created.Order.ID)
	redirected := <-one
	assert.Equal(t, model.ShipmentEventKindRedirected, redirected.Kind)
	assert.Equal(t, "Rome", redirected.Order.Address)
	assert.Len(t, all, 1)
	assert.Empty(t, one)
}

func TestSubscriptionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := New(0)
	events := store.Subscribe(ctx, "")
	cancel()
	_, open := <-events
	assert.False(t, open)
	_, err := store.Ship("1001", &model.Shipment{})
	assert.NoError(t, err)
}

func TestSubscriberThatLagsBehindLosesItsSubscription(t *testing.T) {
	store := New(0)
	events := store.Subscribe(t.Context(), "")
	for range backlog + 1 {
		_, err := store.Redirect("1001", "Rome")
		require.NoError(t, err)
	}
	var received int
	for range events {
		received++
	}
	assert.Equal(t, backlog, received)
}

func TestCloseEventsEndsSubscriptionsOldAndNew(t *testing.T) {
	store := New(0)
	before := store.Subscribe(t.Context(), "")
	store.CloseEvents()
	store.CloseEvents()
	for _, events := range []<-chan *model.ShipmentEvent{before, store.Subscribe(t.Context(), "")} {
		_, open := <-events
		assert.False(t, open)
	}
}

func TestExportTakesItsTimeAndListsEveryItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := New(2 * time.Second)
		start := time.Now()
		text, err := store.Export(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2*time.Second, time.Since(start))

		lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		require.NoError(t, err)
		assert.Len(t, lines, 8)
		assert.Equal(t, []string{"1001", "Mia", "3 Harbour Lane, Bristol", "PENDING", "tuna-85", "24", "1.15"}, lines[1])
	})
}

func TestExportEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := New(time.Hour).Export(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestStoreMayBeUsedConcurrently(t *testing.T) {
	store := New(0)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			store.Subscribe(ctx, "1003")
			store.Ship("1003", &model.Shipment{ID: "1"})
			store.Redirect("1003", "Rome")
			store.SetLastQuote("1003", &model.ShippingQuote{Price: 1})
			store.Export(ctx)
			for _, order := range store.Pending() {
				assert.NotEqual(t, model.OrderStatusShipped, order.Status)
			}
		})
	}
	all.Wait()
	order, err := store.Order("1003")
	require.NoError(t, err)
	assert.Equal(t, "1", order.Shipment.ID)
}
