package policy

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// EventKind says what happened.
type EventKind string

// The kinds of [Event], and the fields that each sets beyond Kind, Time, Policy and Source.
const (
	EventRetry            EventKind = "retry"             // Attempt that failed, Delay until the next, Err
	EventTimeout          EventKind = "timeout"           // Attempt, Timeout, Reason: "total" or "operation budget" where it is not the attempt's, Err
	EventCircuitOpen      EventKind = "circuit-open"      // Gate, From, To, Reason, Sequence
	EventCircuitHalfOpen  EventKind = "circuit-half-open" // Gate, From, To, Reason, Sequence
	EventCircuitClosed    EventKind = "circuit-closed"    // Gate, From, To, Reason, Sequence
	EventCircuitRejected  EventKind = "circuit-rejected"  // Gate, Attempt, RetryAfter, Err
	EventBulkheadRejected EventKind = "bulkhead-rejected" // Gate, Attempt, Reason, Running, Queued, Err
	EventRateLimited      EventKind = "rate-limited"      // Gate, Attempt, RetryAfter, Err
	EventFallback         EventKind = "fallback"          // Err, Reason: "failed" where the fallback had an error and no answer
	EventAbandoned        EventKind = "abandoned"         // Attempt, Timeout, Running: the policy's abandoned attempts
)

// Event is something that a policy did. What a kind does not set is zero.
type Event struct {
	Kind   EventKind
	Time   time.Time // when it took effect
	Policy string    // the policy's name; empty for a breaker's Trip and Reset
	Source string    // what ran: "Query.shippingQuotes", or what WithSource said
	Gate   string    // the name of the breaker, bulkhead or limiter

	// Attempt counts from 1. Of one that was rejected, or out of time before it began, it is the
	// number that it would have had.
	Attempt int

	Delay      time.Duration // until the next attempt
	Timeout    time.Duration // the limit that ran out
	From, To   State
	Reason     string
	Running    int
	Queued     int
	RetryAfter time.Duration
	Err        error

	// Sequence numbers the transitions of one breaker from 1. Subscribers run outside the
	// breaker's lock, so two transitions may reach them in the other order.
	Sequence uint64
}

// Subscribe calls fn for every event of every policy of the registry, on the goroutine that
// caused it, with that call's context and no lock held, so fn should be quick and must be safe
// for concurrent use. It must not run anything under a policy of the registry: at some events
// its goroutine still has a slot of the bulkhead, for which a call that fn makes would wait for
// ever. A panic in fn is logged with [slog.Default] and goes no further. The returned function
// ends the subscription; calls already under way may still finish after it has returned.
// Subscribe panics if fn is nil.
func (r *Registry) Subscribe(fn func(context.Context, Event)) (cancel func()) {
	if fn == nil {
		panic("policy: Registry.Subscribe: the function is nil")
	}
	return r.events.subscribe(fn)
}

// bus hands events to subscribers.
type bus struct {
	mu          sync.Mutex // serialises changes of subscribers
	subscribers atomic.Pointer[[]*subscriber]
}

type subscriber struct {
	fn func(context.Context, Event)
}

func (b *bus) subscribe(fn func(context.Context, Event)) (cancel func()) {
	s := &subscriber{fn: fn}
	b.change(func(all []*subscriber) []*subscriber { return append(all, s) })
	return func() {
		b.change(func(all []*subscriber) []*subscriber {
			return slices.DeleteFunc(all, func(other *subscriber) bool { return other == s })
		})
	}
}

// change replaces the subscribers by what edit makes of a copy of them.
func (b *bus) change(edit func([]*subscriber) []*subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*subscriber
	if old := b.subscribers.Load(); old != nil {
		all = slices.Clone(*old)
	}
	all = edit(all)
	b.subscribers.Store(&all)
}

// silent reports that nobody listens, so that no event need be made.
func (b *bus) silent() bool {
	all := b.subscribers.Load()
	return all == nil || len(*all) == 0
}

func (b *bus) publish(ctx context.Context, e Event) {
	if all := b.subscribers.Load(); all != nil {
		for _, s := range *all {
			s.notify(ctx, e)
		}
	}
}

func (s *subscriber) notify(ctx context.Context, e Event) {
	defer func() {
		if r := recover(); r != nil {
			slog.ErrorContext(ctx, "a subscriber to policy events panicked", "event", e.Kind, "panic", fmt.Sprint(r))
		}
	}()
	s.fn(ctx, e)
}

// silent reports that nobody listens to events.
func (c *Call) silent() bool { return c.policy.registry.events.silent() }

// publish completes the event and hands it to whoever listens.
func (c *Call) publish(e Event) {
	if c.silent() {
		return
	}
	e.Time, e.Policy, e.Source = time.Now(), c.policy.name, c.policy.source
	c.policy.registry.events.publish(c.caller, e)
}

// The events of a call.

func (c *Call) publishRetry(delay time.Duration) {
	c.publish(Event{Kind: EventRetry, Attempt: c.number, Delay: delay, Err: c.err})
}

func (c *Call) publishTimeout(timeUp, err *Error) {
	c.publish(Event{Kind: EventTimeout, Attempt: c.number, Timeout: c.limit(timeUp), Reason: err.Reason, Err: err})
}

func (c *Call) publishAbandoned(a *Attempt) {
	c.publish(Event{
		Kind: EventAbandoned, Attempt: int(a.number), Timeout: c.limit(a.timeUp), Running: c.plan.abandoned.count(),
	})
}

func (c *Call) publishFallback(err error, failed bool) {
	e := Event{Kind: EventFallback, Err: err}
	if failed {
		e.Reason = "failed"
	}
	c.publish(e)
}

// limit is how long the time was that is up. The operation's is not told.
func (c *Call) limit(timeUp *Error) time.Duration {
	switch timeUp {
	case c.policy.attemptTimeUp:
		return c.plan.timeout
	case c.policy.totalTimeUp:
		return c.plan.total
	default:
		return 0
	}
}

func (c *Call) publishChanges(changes []transition) {
	c.plan.breaker.publish(c.caller, changes, c.policy.name, c.policy.source)
}
