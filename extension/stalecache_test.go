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
}

type naiveEntry struct {
	key   string
	value any
	since time.Time
}

// take removes the key's entry, if it is not too old.
func (c *naiveCache) take(now time.Time, key string) (naiveEntry, bool) {
	c.entries = slices.DeleteFunc(c.entries, func(e naiveEntry) bool { return now.Sub(e.since) > c.maxAge })
	i := slices.IndexFunc(c.entries, func(e naiveEntry) bool { return e.key == key })
	if i < 0 {
		return naiveEntry{}, false
	}
	taken := c.entries[i]
	c.entries = slices.Delete(c.entries, i, i+1)
	return taken, true
}

func (c *naiveCache) get(now time.Time, key string) (any, time.Duration, bool) {
	taken, ok := c.take(now, key)
	if !ok {
		return nil, 0, false
	}
	c.entries = append(c.entries, taken)
	return taken.value, now.Sub(taken.since), true
}

func (c *naiveCache) put(now time.Time, key string, value any) {
	c.take(now, key)
	if len(c.entries) == c.capacity {
		c.entries = c.entries[1:]
	}
	c.entries = append(c.entries, naiveEntry{key, value, now})
}

func FuzzAStaleCacheDoesWhatANaiveOneDoes(f *testing.F) {
	f.Add(uint8(2), uint8(3), []byte{0, 4, 8, 1, 0, 3, 7, 12, 1, 5, 9, 2, 1, 255, 1})
	f.Add(uint8(0), uint8(0), []byte{0, 1, 4, 1, 5, 3, 5})
	f.Add(uint8(1), uint8(200), []byte{0, 4, 0, 8, 1, 5, 9}) // what is kept again is used
	f.Add(uint8(1), uint8(10), []byte{0, 4, 27, 0, 27})      // what is kept again is young
	f.Fuzz(func(t *testing.T, capacity, maxAge uint8, calls []byte) {
		naive := &naiveCache{maxAge: time.Duration(maxAge), capacity: 1 + int(capacity%8)}
		cache := newStaleCache(naive.maxAge, naive.capacity)
		now := time.Now()
		for i, call := range calls {
			key := strconv.Itoa(int(call / 4 % 16))
			switch call % 4 {
			case 0:
				naive.put(now, key, i)
				cache.putAt(now, key, i)
			case 1:
				wantValue, wantAge, wantOK := naive.get(now, key)
				value, age, ok := cache.getAt(now, key)
				require.Equal(t, wantOK, ok, "call %d, key %s", i, key)
				require.Equal(t, wantValue, value)
				require.Equal(t, wantAge, age)
			case 2:
				naive.take(now, key)
				cache.drop(key)
			case 3:
				now = now.Add(time.Duration(call / 4))
			}
			require.LessOrEqual(t, len(cache.entries), naive.capacity)
			require.Equal(t, len(cache.entries), cache.byUse.Len())
			require.Equal(t, len(cache.entries), cache.byAge.Len())
		}
		naive.take(now, "")
		cache.getAt(now, "")
		require.Len(t, cache.entries, len(naive.entries), "what is too old is forgotten by whoever asks next")
	})
}

func TestAStaleCacheServesNothingTooOldThatWasKeptOutOfOrder(t *testing.T) {
	now := time.Now()
	cache := newStaleCache(time.Second, 2)
	cache.putAt(now.Add(time.Millisecond), "a", 1)
	cache.putAt(now, "b", 2) // read the clock before, and got the lock after
	_, _, ok := cache.getAt(now.Add(time.Second), "b")
	require.True(t, ok)
	_, _, ok = cache.getAt(now.Add(time.Second+time.Microsecond), "b")
	require.False(t, ok)

	_, age, ok := cache.getAt(now, "a")
	require.True(t, ok)
	require.Zero(t, age, "a clock that was read before is no negative age")
}
