package policy

import (
	"slices"
	"time"
)

// timeBuckets is how many steps a time window is kept in.
const timeBuckets = 10

// tally counts the outcomes in a window. It is not safe for concurrent use.
type tally interface {
	record(now time.Time, failed bool)
	count(now time.Time) (calls, failures int)
	parts(now time.Time, most int) []WindowPart
	clean() bool // there is no failure in it, whatever the time
	copy() tally
}

func newTally(w Window) tally {
	if w.Duration > 0 {
		return &timeTally{width: w.Duration / timeBuckets}
	}
	return &countTally{outcomes: make([]bool, w.Calls)}
}

// countTally is a ring of the last outcomes; true is a failure.
type countTally struct {
	outcomes []bool
	next     int
	calls    int
	failures int
}

func (t *countTally) record(_ time.Time, failed bool) {
	if t.calls < len(t.outcomes) {
		t.calls++
	} else if t.outcomes[t.next] {
		t.failures--
	}
	t.outcomes[t.next] = failed
	if failed {
		t.failures++
	}
	t.next = (t.next + 1) % len(t.outcomes)
}

func (t *countTally) count(time.Time) (calls, failures int) { return t.calls, t.failures }

func (t *countTally) parts(_ time.Time, most int) []WindowPart {
	oldest := t.next + len(t.outcomes) - t.calls
	return divided(t.calls, most, func(i int) WindowPart {
		part := WindowPart{Calls: 1}
		if t.outcomes[(oldest+i)%len(t.outcomes)] {
			part.Failures = 1
		}
		return part
	})
}

func (t *countTally) clean() bool { return t.failures == 0 }

func (t *countTally) copy() tally {
	c := *t
	c.outcomes = slices.Clone(t.outcomes)
	return &c
}

// timeTally is a ring of buckets, each for one stretch of width. A bucket's period counts
// the widths since start, the time of the first record.
type timeTally struct {
	width   time.Duration
	start   time.Time
	buckets [timeBuckets]bucket
}

type bucket struct {
	period          int64
	calls, failures int
}

func (t *timeTally) record(now time.Time, failed bool) {
	if t.start.IsZero() {
		t.start = now
	}
	period := t.period(now)
	b := &t.buckets[period%timeBuckets]
	if b.period < period { // a later one stays: its clock was merely read before this one's
		*b = bucket{period: period}
	}
	b.calls++
	if failed {
		b.failures++
	}
}

func (t *timeTally) count(now time.Time) (calls, failures int) {
	if t.start.IsZero() {
		return 0, 0
	}
	oldest := t.period(now) - timeBuckets + 1
	for _, b := range t.buckets {
		if b.period >= oldest {
			calls += b.calls
			failures += b.failures
		}
	}
	return calls, failures
}

func (t *timeTally) parts(now time.Time, most int) []WindowPart {
	if calls, _ := t.count(now); calls == 0 {
		return nil
	}
	oldest := t.period(now) - timeBuckets + 1
	return divided(timeBuckets, most, func(i int) (part WindowPart) {
		for _, b := range t.buckets {
			if b.period == oldest+int64(i) || b.period > oldest+int64(i) && i == timeBuckets-1 {
				part.Calls += b.calls
				part.Failures += b.failures
			}
		}
		return part
	})
}

func (t *timeTally) clean() bool { return false } // as far as is known without the time

func (t *timeTally) copy() tally { return new(*t) }

// period is never negative, even if two callers read the clock in one order and record in
// the other.
func (t *timeTally) period(now time.Time) int64 {
	return max(0, int64(now.Sub(t.start)/t.width))
}

// divided returns n parts as no more than most, neighbours added up.
func divided(n, most int, part func(i int) WindowPart) []WindowPart {
	all := make([]WindowPart, min(n, most))
	for i := range n {
		p, to := part(i), &all[i*len(all)/n]
		to.Calls += p.Calls
		to.Failures += p.Failures
	}
	return all
}
