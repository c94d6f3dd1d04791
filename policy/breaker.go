package policy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// outcome is what one call tells a breaker.
type outcome uint8

const (
	success outcome = iota
	failure
	ignored // neither: the call says nothing about the dependency
)

type breakerSettings struct {
	CircuitBreakerSettings
	recordIf func(error) bool
}

// CircuitBreaker stops calls to a dependency when too many of them fail, and lets a few
// through again after a while to see whether it has recovered. Several policies may share it.
// It is safe for concurrent use.
type CircuitBreaker struct {
	name     string
	settings breakerSettings
	events   *bus

	// What most calls need to know, which spares them the lock. Changed under mu.
	closed    atomic.Uint64 // one more than generation while the state is closed, otherwise 0
	openUntil atomic.Int64  // the instant until which the state is open; otherwise 0

	mu sync.Mutex
	// All below is guarded by mu.
	state      State
	since      time.Time // when state began
	generation uint64    // of the permits that count; a result of an earlier era is dropped
	sequence   uint64    // of transitions
	window     tally
	probes     []probe // running, oldest first
	lastProbe  uint64  // the id of the newest probe
	succeeded  int     // probes of this half-open era
}

// permit allows one call. The breaker must be told its outcome exactly once.
type permit struct {
	generation uint64
	probe      uint64 // 0 for a call through a closed breaker
}

type probe struct {
	id      uint64
	started time.Time
}

func newCircuitBreaker(name string, s breakerSettings, events *bus) *CircuitBreaker {
	b := &CircuitBreaker{name: name, settings: s, events: events, since: time.Now(), window: newTally(s.Window)}
	b.closed.Store(b.generation + 1)
	return b
}

// Trip opens the breaker, for the usual OpenDuration, whatever its state. Outcomes of calls
// that are under way no longer count.
func (b *CircuitBreaker) Trip() { b.force(StateOpen, "tripped") }

// Reset closes the breaker and empties its window, whatever its state. Outcomes of calls that
// are under way no longer count.
func (b *CircuitBreaker) Reset() { b.force(StateClosed, "reset") }

func (b *CircuitBreaker) force(to State, reason string) {
	b.publish(context.Background(), b.forceAt(time.Now(), to, reason), "", "")
}

func (b *CircuitBreaker) forceAt(now time.Time, to State, reason string) []transition {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(b.settleLocked(now), b.assignLocked(to, now, reason))
}

// isClosed reports whether the breaker is closed, and which permit that is then.
func (b *CircuitBreaker) isClosed() (p permit, ok bool) {
	closed := b.closed.Load()
	return permit{generation: closed - 1}, closed != 0
}

// passable is passableAt for now.
func (b *CircuitBreaker) passable() (retryAfter time.Duration, ok bool, changes []transition) {
	if until := instant(b.openUntil.Load()); until != 0 {
		if left := until.since(now()); left > 0 {
			return left, false, nil
		}
	}
	return b.passableAt(time.Now())
}

// permitAt asks for a call to pass. If it may not, retryAfter tells when one may.
func (b *CircuitBreaker) permitAt(now time.Time) (p permit, retryAfter time.Duration, ok bool, changes []transition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changes = b.settleLocked(now)
	if retryAfter, ok = b.passableLocked(now); !ok {
		return permit{}, retryAfter, false, changes
	}
	if state, _ := b.stateAtLocked(now); state == StateClosed {
		return permit{generation: b.generation}, 0, true, changes
	}
	if b.state == StateOpen {
		changes = append(changes, b.assignLocked(StateHalfOpen, now, "the open duration is over"))
	}
	b.lastProbe++
	p = permit{generation: b.generation, probe: b.lastProbe}
	b.probes = append(b.probes, probe{id: p.probe, started: now})
	return p, 0, true, changes
}

// passableAt tells whether a permit would be granted now, and takes none.
func (b *CircuitBreaker) passableAt(now time.Time) (retryAfter time.Duration, ok bool, changes []transition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changes = b.settleLocked(now)
	retryAfter, ok = b.passableLocked(now)
	return retryAfter, ok, changes
}

// passableLocked is asked once what time alone has done is settled.
func (b *CircuitBreaker) passableLocked(now time.Time) (retryAfter time.Duration, ok bool) {
	state, since := b.stateAtLocked(now)
	if state == StateOpen {
		return since.Add(b.settings.OpenDuration).Sub(now), false
	}
	if b.state == StateHalfOpen && len(b.probes)+b.succeeded >= b.settings.HalfOpenMaxCalls {
		return time.Second, false // a probe is under way: soon, but nobody knows when
	}
	return 0, true
}

// record takes the outcome of a permitted call.
func (b *CircuitBreaker) record(p permit, o outcome) []transition {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o == success && b.state == StateClosed && p.generation == b.generation && b.window.clean() {
		b.window.record(time.Time{}, false) // and neither the clock nor the rate has a say
		return nil
	}
	return b.recordLocked(time.Now(), p, o)
}

// recordLocked takes the outcome of a permitted call.
func (b *CircuitBreaker) recordLocked(now time.Time, p permit, o outcome) []transition {
	changes := b.settleLocked(now)
	if p.generation != b.generation {
		return changes
	}
	s := &b.settings
	switch b.state {
	case StateClosed:
		if o == ignored {
			break
		}
		b.window.record(now, o == failure)
		calls, failures := b.window.count(now)
		if calls >= s.MinimumCalls && failures*100 >= s.FailureRate*calls {
			reason := fmt.Sprintf("%d of %d calls failed", failures, calls)
			changes = append(changes, b.assignLocked(StateOpen, now, reason))
		}
	case StateHalfOpen:
		b.probes = slices.DeleteFunc(b.probes, func(other probe) bool { return other.id == p.probe })
		switch o {
		case failure:
			changes = append(changes, b.assignLocked(StateOpen, now, "a probe failed"))
		case success:
			if b.succeeded++; b.succeeded == s.HalfOpenMaxCalls {
				changes = append(changes, b.assignLocked(StateClosed, now, "all probes succeeded"))
			}
		}
	}
	return changes
}

// stateAtLocked is the state as a pure function of the clock, and when it began.
func (b *CircuitBreaker) stateAtLocked(now time.Time) (State, time.Time) {
	state, since := b.state, b.since
	if expiry, expired := b.probeExpiryLocked(now); expired {
		state, since = StateOpen, expiry
	}
	if halfOpen := since.Add(b.settings.OpenDuration); state == StateOpen && !now.Before(halfOpen) {
		state, since = StateHalfOpen, halfOpen
	}
	return state, since
}

// settleLocked applies what time alone has done: a probe that ran too long has failed.
func (b *CircuitBreaker) settleLocked(now time.Time) []transition {
	if expiry, expired := b.probeExpiryLocked(now); expired {
		return []transition{b.assignLocked(StateOpen, expiry, "a probe took too long")}
	}
	return nil
}

func (b *CircuitBreaker) probeExpiryLocked(now time.Time) (expiry time.Time, expired bool) {
	if b.state != StateHalfOpen || len(b.probes) == 0 {
		return time.Time{}, false
	}
	expiry = b.probes[0].started.Add(b.settings.HalfOpenMaxWait)
	return expiry, !now.Before(expiry)
}

// assignLocked is the only place that changes the state. It starts a new era.
func (b *CircuitBreaker) assignLocked(to State, at time.Time, reason string) transition {
	if to != b.state {
		b.sequence++
	}
	change := transition{from: b.state, to: to, at: at, reason: reason, sequence: b.sequence}
	b.state, b.since = to, at
	b.generation++
	b.closed.Store(0)
	b.openUntil.Store(0)
	b.probes, b.succeeded = nil, 0
	switch to {
	case StateClosed:
		b.window = newTally(b.settings.Window)
		b.closed.Store(b.generation + 1)
	case StateOpen:
		b.openUntil.Store(int64(instantOf(at.Add(b.settings.OpenDuration))))
	}
	return change
}
