package policy

import (
	"slices"
	"sync"
	"time"
)

type rateLimitSettings struct {
	limit    int
	interval time.Duration
	burst    int
	maxWait  time.Duration
}

// RateLimiter limits how often a dependency is called: a token bucket of Burst tokens that
// starts full and gains Limit tokens each Interval. Several policies may share it. It is safe
// for concurrent use.
//
// It is kept as a virtual schedule (the generic cell rate algorithm of ITU-T I.371, annex A):
// instead of counting tokens it remembers when the bucket will next be full.
type RateLimiter struct {
	name     string
	settings rateLimitSettings
	step     time.Duration // in which one token arrives, rounded up

	mu sync.Mutex
	// All below is guarded by mu.
	full   time.Time   // when the bucket is full again
	unused []time.Time // what full was with each token that came back out of turn, in order
}

func newRateLimiter(name string, s rateLimitSettings) *RateLimiter {
	limit := time.Duration(s.limit)
	return &RateLimiter{name: name, settings: s, step: (s.interval + limit - 1) / limit}
}

// Name returns the name under which policies share the limiter.
func (l *RateLimiter) Name() string { return l.name }

// Limit returns the calls per interval that are let through on average.
func (l *RateLimiter) Limit() (calls int, interval time.Duration) {
	return l.settings.limit, l.settings.interval
}

// Burst returns how many calls are let through at once after a pause: the tokens of a full bucket.
func (l *RateLimiter) Burst() int { return l.settings.burst }

// Available returns how many calls would pass now without waiting.
func (l *RateLimiter) Available() int {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	owed := max(0, l.full.Sub(now))
	lacking := int(owed / l.step)
	if owed%l.step > 0 {
		lacking++
	}
	return max(0, l.settings.burst-lacking)
}

// reservation is a token taken, to be used after wait.
type reservation struct {
	wait time.Duration
	full time.Time // what the token made of RateLimiter.full
}

// reserveAt takes a token if it can be used within longest. If it can't, wait tells how long
// it would have been.
func (l *RateLimiter) reserveAt(now time.Time, longest time.Duration) (r reservation, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.full
	if full.Before(now) {
		full = now
	}
	full = full.Add(l.step)
	wait := max(0, full.Sub(now)-time.Duration(l.settings.burst)*l.step)
	if wait > longest {
		return reservation{wait: wait}, false
	}
	l.full = full
	return reservation{wait: wait, full: full}, true
}

// refundAt takes a token back that was not used. While others taken since are out it helps
// nobody, for their turns are fixed, and a second call at one of them would exceed the limit.
// Once these are back, too, it counts.
func (l *RateLimiter) refundAt(now time.Time, r reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	place, _ := slices.BinarySearchFunc(l.unused, r.full, time.Time.Compare)
	l.unused = slices.Insert(l.unused, place, r.full)
	last := len(l.unused) - 1
	for ; last >= 0 && l.unused[last].Equal(l.full); last-- {
		l.full = l.full.Add(-l.step)
	}
	l.unused = l.unused[:last+1]
	l.forgetLocked(now)
}

// forgetLocked drops the tokens that have come back into the bucket by time alone. Those left
// are no more than have a place between now and full.
func (l *RateLimiter) forgetLocked(now time.Time) {
	past := 0
	for past < len(l.unused) && !l.unused[past].After(now) {
		past++
	}
	l.unused = slices.Delete(l.unused, 0, past)
}
