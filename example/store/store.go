// Package store keeps the orders of a store for cat food in memory.
package store

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gqlresilience/gqlresilience/example/graph/model"
)

// ErrNotFound is the error for an order that does not exist.
var ErrNotFound = errors.New("no such order")

// Store holds the orders. It is safe for concurrent use. The orders it returns are the caller's
// copies; what they point at (items, quote, shipment) is shared and must not be written.
type Store struct {
	exportDuration time.Duration
	events         broker

	mu     sync.RWMutex
	orders []model.Order // by ascending ID; guarded by mu
}

// New returns a store with the orders 1001 to 1005. An export takes exportDuration; zero is
// allowed.
func New(exportDuration time.Duration) *Store {
	return &Store{exportDuration: exportDuration, orders: firstOrders()}
}

// Orders returns all orders by ascending ID.
func (s *Store) Orders() []*model.Order {
	s.mu.RLock()
	defer s.mu.RUnlock()
	orders := make([]*model.Order, len(s.orders))
	for i, order := range s.orders {
		orders[i] = &order
	}
	return orders
}

// Pending returns the orders that are not shipped yet.
func (s *Store) Pending() []*model.Order {
	var pending []*model.Order
	for _, order := range s.Orders() {
		if order.Status == model.OrderStatusPending {
			pending = append(pending, order)
		}
	}
	return pending
}

// Order returns the order with the ID, or an error that matches [ErrNotFound].
func (s *Store) Order(id string) (*model.Order, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	order, err := s.findLocked(id)
	if err != nil {
		return nil, err
	}
	found := *order
	return &found, nil
}

// Ship records the order's shipment and tells the subscribers. For an order that is shipped
// already it changes nothing, and returns the shipment recorded first.
func (s *Store) Ship(orderID string, shipment *model.Shipment) (*model.Shipment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, err := s.findLocked(orderID)
	if err != nil {
		return nil, err
	}
	if order.Shipment != nil {
		return order.Shipment, nil
	}
	order.Status = model.OrderStatusShipped
	order.Shipment = shipment
	s.events.publish(model.ShipmentEventKindCreated, *order)
	return shipment, nil
}

// Redirect changes where the order's parcel goes and tells the subscribers.
func (s *Store) Redirect(orderID, address string) (*model.Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, err := s.findLocked(orderID)
	if err != nil {
		return nil, err
	}
	order.Address = address
	s.events.publish(model.ShipmentEventKindRedirected, *order)
	redirected := *order
	return &redirected, nil
}

// SetLastQuote records the cheapest quote for the order.
func (s *Store) SetLastQuote(orderID string, quote *model.ShippingQuote) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, err := s.findLocked(orderID)
	if err != nil {
		return err
	}
	order.LastQuote = quote
	return nil
}

func (s *Store) findLocked(id string) (*model.Order, error) {
	for i := range s.orders {
		if s.orders[i].ID == id {
			return &s.orders[i], nil
		}
	}
	return nil, fmt.Errorf("order %q: %w", id, ErrNotFound)
}
