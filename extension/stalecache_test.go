package extension

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// naiveCache does what a staleCache is to do, entry by entry, the least recently used first.
type naiveCache struct {
	maxAge   time.Duration
	capacity int
	entries  []naiveEntry
	drops    []staleDrop // the last at the end
	all      time.Time   // since when nothing is known of drops that are not in the list
}

type naiveEntry struct {
	key         string
	value       any
	began, kept time.Time
}

// find forgets what was kept for too long.
func (c *naiveCache) find(now time.Time, key string) int {
	c.entries = slices.DeleteFunc(c.entries, func(e naiveEntry) bool { return now.Sub(e.kept) > c.maxAge })
	return slices.IndexFunc(c.entries, func(e naiveEntry) bool { return e.key == key })
}

func (c *naiveCache) get(now time.Time, key string) (any, time.Duration, bool) {
	i := c.find(now, key)
	if i < 0 {
		return nil, 0, false
	}
	found := c.entries[i]
	c.entries = slices.Delete(c.entries, i, i+1)
	if now.Sub(found.began) > c.maxAge {
		return nil, 0, false
	}
	c.entries = append(c.entries, found)
	return found.value, now.Sub(found.began), true
}

func (c *naiveCache) put(now, began, asked time.Time, key string, value any) {
	i := c.find(now, key)
	dropped := slices.ContainsFunc(c.drops, func(d staleDrop) bool { return d.key == key && !asked.After(d.at) })
	switch {
	case now.Sub(began) > c.maxAge, dropped, !c.all.IsZero() && !asked.After(c.all):
		return
	case i >= 0 && began.Before(c.entries[i].began):
		return
	case i >= 0:
		c.entries = slices.Delete(c.entries, i, i+1)
	case len(c.entries) == c.capacity:
		c.entries = c.entries[1:]
	}
	c.entries = append(c.entries, naiveEntry{key, value, began, now})
}

func (c *naiveCache) drop(now time.Time, key string) {
	c.entries = slices.DeleteFunc(c.entries, func(e naiveEntry) bool { return e.key == key })
	c.drops = slices.DeleteFunc(c.drops, func(d staleDrop) bool { return d.key == key })
	c.drops = append(c.drops, staleDrop{key, now})
	if len(c.drops) > c.capacity {
		c.all, c.drops = c.drops[0].at, c.drops[1:]
	}
}

func FuzzAStaleCacheDoesWhatANaiveOneDoes(f *testing.F) {
	f.Add(uint8(2), uint8(3), []byte{0, 4, 8, 1, 0, 3, 7, 12, 1, 5, 9, 2, 1, 255, 1})
	f.Add(uint8(0), uint8(0), []byte{0, 1, 4, 1, 5, 3, 5})
	f.Add(uint8(1), uint8(200), []byte{0, 4, 0, 8, 1, 5, 9})              // what is kept again is used
	f.Add(uint8(1), uint8(10), []byte{0, 4, 27, 0, 27})                   // what is kept again is young
	f.Add(uint8(1), uint8(200), []byte{7, 0, 1, 7, 64, 1, 128, 1})        // what began before is not kept
	f.Add(uint8(1), uint8(200), []byte{7, 2, 0, 1, 7, 64, 1, 0, 1})       // nor what began before a drop
	f.Add(uint8(0), uint8(200), []byte{2, 6, 0, 1, 7, 10, 32, 1, 0, 1})   // nor before a drop that was forgotten
	f.Add(uint8(1), uint8(2), []byte{96, 1, 64, 1, 7, 1, 0, 1, 11, 1, 7}) // its age counts from its beginning
	f.Fuzz(func(t *testing.T, capacity, maxAge uint8, calls []byte) {
		naive := &naiveCache{maxAge: time.Duration(maxAge), capacity: 1 + int(capacity%8)}
		cache := newStaleCache(naive.maxAge, naive.capacity)
		now := time.Now()
		for i, call := range calls {
			key := strconv.Itoa(int(call / 4 % 8))
			switch call % 4 {
			case 0:
				took := time.Duration(call / 32)
				began := now.Add(-took)
				asked := began.Add(-took / 2)
				naive.put(now, began, asked, key, i)
				cache.putAt(now, key, staleValue{i, began, asked})
			case 1:
				wantValue, wantAge, wantOK := naive.get(now, key)
				value, age, ok := cache.getAt(now, key)
				require.Equal(t, wantOK, ok, "call %d, key %s", i, key)
				require.Equal(t, wantValue, value)
				require.Equal(t, wantAge, age)
			case 2:
				naive.drop(now, key)
				cache.dropAt(now, key)
			case 3:
				now = now.Add(time.Duration(call / 4))
			}
			require.LessOrEqual(t, len(cache.entries), naive.capacity)
			require.Equal(t, len(cache.entries), cache.byUse.Len())
			require.Equal(t, len(cache.entries), cache.byTime.Len())
			require.LessOrEqual(t, len(cache.drops.byKey), naive.capacity)
			require.Equal(t, len(cache.drops.byKey), cache.drops.byTime.Len())
		}
		naive.get(now, "")
		cache.getAt(now, "")
		require.Len(t, cache.entries, len(naive.entries), "what is too old is forgotten by whoever asks next")
	})
}

func TestAStaleCacheServesNothingTooOldThatWasKeptOutOfOrder(t *testing.T) {
	now := time.Now()
	cache := newStaleCache(time.Second, 2)
	later := now.Add(time.Millisecond)
	cache.putAt(later, "a", staleValue{1, later, later})
	cache.putAt(now, "b", staleValue{2, now, now}) // read the clock before, and got the lock after
	_, _, ok := cache.getAt(now.Add(time.Second), "b")
	require.True(t, ok)
	_, _, ok = cache.getAt(now.Add(time.Second+time.Microsecond), "b")
	require.False(t, ok)

	_, age, ok := cache.getAt(now, "a")
	require.True(t, ok)
	require.Zero(t, age, "a clock that was read before is no negative age")
}

func TestDropsOfKeysThatAClientMakesUpDriveNoValuesOut(t *testing.T) {
	now := time.Now()
	cache := newStaleCache(time.Minute, 2)
	cache.putAt(now, "a", staleValue{1, now, now})
	for i := range 10 {
		cache.dropAt(now.Add(time.Second), strconv.Itoa(i))
	}
	_, _, ok := cache.getAt(now.Add(time.Second), "a")
	require.True(t, ok)
	require.Len(t, cache.drops.byKey, 2)
}
