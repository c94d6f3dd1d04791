package policy

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
)

// Subscribe calls fn for every event of every policy of the registry, or for those of the kinds that
// are given. Without kinds it leaves out [EventAttempt] and [EventCall], of which there are as many as
// calls, whether anything goes wrong or not: they are made only while somebody asks for them. fn runs on
// the goroutine that caused the event, with that call's context and no lock held, so fn should be quick and must be safe
// for concurrent use. It must not run anything under a policy of the registry: at some events
// its goroutine still has a slot of the bulkhead, for which a call that fn makes would wait for
// ever. A panic in fn is logged with [slog.Default] and goes no further. The returned function
// ends the subscription; calls already under way may still finish after it has returned.
// Subscribe panics if fn is nil.
func (r *Registry) Subscribe(fn func(context.Context, Event), kinds ...EventKind) (cancel func()) {
	if fn == nil {
		panic("policy: Registry.Subscribe: the function is nil")
	}
	return r.events.subscribe(&subscriber{fn, slices.Clone(kinds)})
}

// bus hands events to subscribers.
type bus struct {
	mu          sync.Mutex // serialises changes of subscribers
	subscribers atomic.Pointer[[]*subscriber]
	counted     atomic.Bool // a subscriber asks for the end of every attempt or call
}

type subscriber struct {
	fn    func(context.Context, Event)
	kinds []EventKind // none: all but those that are counted
}

func (s *subscriber) wants(kind EventKind) bool {
	if len(s.kinds) == 0 {
		return !kind.counted()
	}
	return slices.Contains(s.kinds, kind)
}

// counted reports whether there is an event of the kind for every call, and not only where something
// goes wrong.
func (k EventKind) counted() bool { return k == EventAttempt || k == EventCall }

func (b *bus) subscribe(s *subscriber) (cancel func()) {
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
	b.counted.Store(slices.ContainsFunc(all, func(s *subscriber) bool { return slices.ContainsFunc(s.kinds, EventKind.counted) }))
}

// silent reports that nobody listens, so that no event need be made.
func (b *bus) silent() bool {
	all := b.subscribers.Load()
	return all == nil || len(*all) == 0
}

func (b *bus) publish(ctx context.Context, e Event) {
	if all := b.subscribers.Load(); all != nil {
		for _, s := range *all {
			if s.wants(e.Kind) {
				s.notify(ctx, e)
			}
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
