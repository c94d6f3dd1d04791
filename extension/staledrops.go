package extension

import (
	"container/list"
	"time"
)

// staleDrops remembers when the values of which keys were dropped, for the calls that were under
// way. They take no room from values: a client's errors, for keys that it makes up, must not
// drive those out. Beyond its capacity, all keys pass for dropped at the time of the one forgotten.
type staleDrops struct {
	capacity int
	byKey    map[string]*list.Element
	byTime   list.List // of staleDrop, the first at the back
	all      time.Time // zero: none was forgotten
}

type staleDrop struct {
	key string
	at  time.Time
}

// add takes note of a drop.
func (d *staleDrops) add(now time.Time, key string) {
	if last, ok := d.byKey[key]; ok {
		d.byTime.Remove(last)
	} else if len(d.byKey) == d.capacity {
		forgotten := d.byTime.Remove(d.byTime.Back()).(staleDrop)
		delete(d.byKey, forgotten.key)
		if forgotten.at.After(d.all) {
			d.all = forgotten.at
		}
	}
	d.byKey[key] = d.byTime.PushFront(staleDrop{key, now})
}

// concerns reports whether the key was, or passes for, dropped at the time asked, or later.
func (d *staleDrops) concerns(key string, asked time.Time) bool {
	at := d.all
	if last, ok := d.byKey[key]; ok {
		if drop := last.Value.(staleDrop); drop.at.After(at) {
			at = drop.at
		}
	}
	return !at.IsZero() && !asked.After(at)
}
