package dashboard

import "time"

const (
	// step is what one column of the charts is about.
	step = 5 * time.Second
	// columns are five minutes.
	columns = 60
)

// period counts the steps since the dashboard was made, from 1.
type period int64

// periodOf is that of a time, as told by the clock that start was read from.
func periodOf(start, at time.Time) period { return 1 + period(max(0, at.Sub(start))/step) }

// ring has a T for each of the last columns. The zero value is ready. It is not safe for concurrent use.
type ring[T any] [columns]struct {
	period period
	value  T
}

// at returns the T of a period. One that is gone already, since its clock was read long ago, gets what is thrown
// away.
func (r *ring[T]) at(p period) *T {
	c := &r[p%columns]
	switch {
	case c.period > p:
		return new(T)
	case c.period < p:
		var zero T
		c.period, c.value = p, zero
	}
	return &c.value
}

// each calls f for the columns there are something in, up to now; column counts from 0, the oldest.
func (r *ring[T]) each(now period, f func(column int, value *T)) {
	oldest := now - columns + 1
	for i := range r {
		if c := &r[i]; c.period >= max(1, oldest) && c.period <= now {
			f(int(c.period-oldest), &c.value)
		}
	}
}
