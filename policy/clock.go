package policy

import (
	"math"
	"time"
)

// instant is a reading of the monotonic clock: the time since epoch, never 0. It is only good to
// be compared with others, and costs half of what [time.Now] does, which reads the wall clock too.
// In a synctest bubble epoch is from outside, and yet the difference of two instants is right.
type instant time.Duration

var epoch = time.Now()

func now() instant { return instant(time.Since(epoch)) }

// add stops at the last instant: a limit may be as long as a duration can be.
func (i instant) add(d time.Duration) instant {
	if later := i + instant(d); d <= 0 || later > i {
		return later
	}
	return math.MaxInt64
}

// since is how long it is from earlier to i.
func (i instant) since(earlier instant) time.Duration { return time.Duration(i - earlier) }

// instantOf is t as an instant.
func instantOf(t time.Time) instant { return now().add(time.Until(t)) }

// time is i as a time. It reads the clock once, so that no pause between two readings moves it.
func (i instant) time() time.Time {
	at := time.Now()
	return at.Add(i.since(instant(at.Sub(epoch))))
}
