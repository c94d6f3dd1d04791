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
	staleValue
	key           string
	kept          time.Time     // when the call returned, not before it began
	inUse, inTime *list.Element // of byUse and byTime
}

// staleValue is a value that a call returned.
type staleValue struct {
	value any
	began time.Time // when the call did
	asked time.Time // when the dependency may first have been asked for the value
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
	case now.Sub(entry.began) > c.maxAge:
		c.removeLocked(entry)
		return nil, 0, false
	}
	c.byUse.MoveToFront(entry.inUse)
	return entry.value, max(0, now.Sub(entry.began)), true
}

// putAt keeps the value in place of the key's last one. Its age counts from began. It is not kept
// if the key's value came from a call that began later, or if the key was dropped at asked or after.
func (c *staleCache) putAt(now time.Time, key string, value staleValue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked(now)
	if now.Sub(value.began) > c.maxAge || c.drops.concerns(key, value.asked) {
		return
	}
	entry, ok := c.entries[key]
	switch {
	case ok && value.began.Before(entry.began):
		return
	case ok:
		c.removeLocked(entry)
	case len(c.entries) == c.capacity:
		c.removeLocked(c.byUse.Back().Value.(*staleEntry))
	}
	entry = &staleEntry{staleValue: value, key: key, kept: now}
	entry.inUse, entry.inTime = c.byUse.PushFront(entry), c.byTime.PushFront(entry)
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
	c.byUse.Remove(entry.inUse)
	c.byTime.Remove(entry.inTime)
	delete(c.entries, entry.key)
}
