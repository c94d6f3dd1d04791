package extension

import (
	"container/list"
	"sync"
	"time"
)

// staleCache keeps the last good values of one field, by key. Of more than its capacity, the least
// recently used give way, and none is kept for longer than maxAge.
type staleCache struct {
	maxAge   time.Duration
	capacity int

	mu sync.Mutex
	// All below is guarded by mu.
	entries map[string]*staleEntry
	byUse   list.List // of *staleEntry, the least recently used at the back
	byTime  list.List // of *staleEntry, the one that was kept first at the back
	drops   staleDrops
}

type staleEntry struct {
	key       string
	value     any
	since     time.Time // when the call began that returned the value
	kept      time.Time // when it returned, not before since
	use, time *list.Element
}

func newStaleCache(maxAge time.Duration, capacity int) *staleCache {
	return &staleCache{
		maxAge: maxAge, capacity: capacity,
		entries: map[string]*staleEntry{},
		drops:   staleDrops{capacity: capacity, byKey: map[string]*list.Element{}},
	}
}

// getAt returns the key's value and its age.
func (c *staleCache) getAt(now time.Time, key string) (value any, age time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked(now)
	entry, ok := c.entries[key]
	switch {
	case !ok:
		return nil, 0, false
	case now.Sub(entry.since) > c.maxAge:
		c.removeLocked(entry)
		return nil, 0, false
	}
	c.byUse.MoveToFront(entry.use)
	return entry.value, max(0, now.Sub(entry.since)), true
}

// putAt keeps the value in place of the key's last one. It is as old as the call that returned it,
// which began at since, and holds nothing that was asked for before earliest. Of a call that began
// before the last value's, or that may know nothing of the key's last drop, it is not kept.
func (c *staleCache) putAt(now, since, earliest time.Time, key string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked(now)
	if now.Sub(since) > c.maxAge || c.drops.concern(key, earliest) {
		return
	}
	entry, ok := c.entries[key]
	switch {
	case ok && since.Before(entry.since):
		return
	case ok:
		c.removeLocked(entry)
	case len(c.entries) == c.capacity:
		c.removeLocked(c.byUse.Back().Value.(*staleEntry))
	}
	entry = &staleEntry{key: key, value: value, since: since, kept: now}
	entry.use, entry.time = c.byUse.PushFront(entry), c.byTime.PushFront(entry)
	c.entries[key] = entry
}

// dropAt forgets the key's value, and what calls return for it that began no later than now.
func (c *staleCache) dropAt(now time.Time, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops.add(now, key)
	if entry, ok := c.entries[key]; ok {
		c.removeLocked(entry)
	}
}

// expireLocked forgets the values that were kept for too long. One may be too old before, by as
// long as its call took.
func (c *staleCache) expireLocked(now time.Time) {
	for first := c.byTime.Back(); first != nil; first = c.byTime.Back() {
		entry := first.Value.(*staleEntry)
		if now.Sub(entry.kept) <= c.maxAge {
			return
		}
		c.removeLocked(entry)
	}
}

func (c *staleCache) removeLocked(entry *staleEntry) {
	c.byUse.Remove(entry.use)
	c.byTime.Remove(entry.time)
	delete(c.entries, entry.key)
}
