package store

import (
	"context"
	"sync"
	"time"

	"github.com/gqlresilience/gqlresilience/example/graph/model"
)

// backlog is how many events a subscriber may lag behind before it loses its subscription.
const backlog = 16

// broker hands events to subscribers. Its zero value is ready for use.
type broker struct {
	mu          sync.Mutex
	closed      bool                     // guarded by mu, as is subscribers
	subscribers map[*subscriber]struct{} // whose channel is open
}

type subscriber struct {
	orderID string // empty: all orders
	events  chan *model.ShipmentEvent
	stop    func() bool // ends the wait for the subscriber's context
}

// Subscribe returns the events of an order's parcel from now on, or of all parcels when orderID
// is empty. The channel is closed when ctx ends, when the subscriber lags too far behind, and by
// [Store.CloseEvents].
func (s *Store) Subscribe(ctx context.Context, orderID string) <-chan *model.ShipmentEvent {
	return s.events.subscribe(ctx, orderID)
}

// CloseEvents ends all subscriptions and, at once, those still to come. The orders stay in use.
func (s *Store) CloseEvents() { s.events.close() }

func (b *broker) subscribe(ctx context.Context, orderID string) <-chan *model.ShipmentEvent {
	sub := &subscriber{orderID: orderID, events: make(chan *model.ShipmentEvent, backlog)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(sub.events)
		return sub.events
	}
	if b.subscribers == nil {
		b.subscribers = make(map[*subscriber]struct{})
	}
	b.subscribers[sub] = struct{}{}
	sub.stop = context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.removeLocked(sub)
	})
	return sub.events
}

func (b *broker) publish(kind model.ShipmentEventKind, order model.Order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	event := &model.ShipmentEvent{Kind: kind, Order: &order, Time: time.Now()}
	for sub := range b.subscribers {
		if sub.orderID != "" && sub.orderID != order.ID {
			continue
		}
		select {
		case sub.events <- event:
		default:
			b.removeLocked(sub)
		}
	}
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for sub := range b.subscribers {
		b.removeLocked(sub)
	}
}

func (b *broker) removeLocked(sub *subscriber) {
	if _, open := b.subscribers[sub]; !open {
		return
	}
	delete(b.subscribers, sub)
	sub.stop()
	close(sub.events)
}
