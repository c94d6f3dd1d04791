package policy

import "time"

// instant is a reading of the monotonic clock: the time since epoch, never 0. It is only good to
// be compared with others, and costs half of what [time.Now] does, which reads the wall clock too.
// In a synctest bubble epoch is from outside, and yet the difference of two instants is right.
type instant time.Duration

var epoch = time.Now()

func now() instant { return instant(time.Since(epoch)) }

func (i instant) add(d time.Duration) instant { return i + instant(d) }

// until is how long it is from earlier to i.
func (i instant) since(earlier instant) time.Duration { return time.Duration(i - earlier) }

// instantOf is t as an instant.
func instantOf(t time.Time) instant { return now().add(time.Until(t)) }
