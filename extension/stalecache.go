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
	byAge   list.List // of *staleEntry, the oldest at the back
}

type staleEntry struct {
	key      string
	value    any
	since    time.Time
	use, age *list.Element
}

func newStaleCache(maxAge time.Duration, capacity int) *staleCache {
	return &staleCache{maxAge: maxAge, capacity: capacity, entries: map[string]*staleEntry{}}
}

// getAt returns the key's value and its age.
func (c *staleCache) getAt(now time.Time, key string) (value any, age time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked(now)
	entry, ok := c.entries[key]
	if !ok || now.Sub(entry.since) > c.maxAge { // kept out of order, by another that read the clock before
		return nil, 0, false
	}
	c.byUse.MoveToFront(entry.use)
	return entry.value, max(0, now.Sub(entry.since)), true
}

// putAt keeps the value in place of the key's last one.
func (c *staleCache) putAt(now time.Time, key string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked(now)
	if entry, ok := c.entries[key]; ok {
		entry.value, entry.since = value, now
		c.byUse.MoveToFront(entry.use)
		c.byAge.MoveToFront(entry.age)
		return
	}
	if len(c.entries) == c.capacity {
		c.removeLocked(c.byUse.Back())
	}
	entry := &staleEntry{key: key, value: value, since: now}
	entry.use, entry.age = c.byUse.PushFront(entry), c.byAge.PushFront(entry)
	c.entries[key] = entry
}

// drop forgets the key's value.
func (c *staleCache) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, ok := c.entries[key]; ok {
		c.removeLocked(entry.use)
	}
}

// expireLocked forgets the values that are too old.
func (c *staleCache) expireLocked(now time.Time) {
	for oldest := c.byAge.Back(); oldest != nil; oldest = c.byAge.Back() {
		if now.Sub(oldest.Value.(*staleEntry).since) <= c.maxAge {
			return
		}
		c.removeLocked(oldest)
	}
}

func (c *staleCache) removeLocked(element *list.Element) {
	entry := element.Value.(*staleEntry)
	c.byUse.Remove(entry.use)
	c.byAge.Remove(entry.age)
	delete(c.entries, entry.key)
}
