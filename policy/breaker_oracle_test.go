package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// tick is the unit in which the oracle's clock advances.
const tick = time.Second

// oracle is a breaker that is as simple as can be: its clock goes tick by tick, it remembers
// every outcome, and it knows the permits of its era by name.
type oracle struct {
	settings breakerSettings
	now      int // ticks

	state    State // StateHalfOpen from the tick on which the open duration is over
	since    int
	outcomes []dated        // since the breaker was last closed
	granted  map[permit]int // permits that still count, and the tick of their granting
	good     int            // probes that succeeded

	era  int            // changes with each change of state
	eras map[permit]int // of every permit ever granted
}

type dated struct {
	at     int
	failed bool
}

func newOracle(s breakerSettings) *oracle {
	return &oracle{settings: s, granted: map[permit]int{}, eras: map[permit]int{}}
}

func (o *oracle) enter(state State) {
	o.state, o.since, o.good = state, o.now, 0
	o.era++
	o.granted = map[permit]int{}
	if state == StateClosed {
		o.outcomes = nil
	}
}

func (o *oracle) advance(ticks int) {
	for range ticks {
		o.now++
		if o.state == StateHalfOpen {
			for _, at := range o.granted {
				if o.now-at == int(o.settings.HalfOpenMaxWait/tick) {
					o.enter(StateOpen)
					break
				}
			}
		}
		if o.state == StateOpen && o.now-o.since == int(o.settings.OpenDuration/tick) {
			o.enter(StateHalfOpen)
		}
	}
}

func (o *oracle) mayPass() bool {
	switch o.state {
	case StateClosed:
		return true
	case StateHalfOpen:
		return len(o.granted)+o.good < o.settings.HalfOpenMaxCalls
	default:
		return false
	}
}

// window counts what the window holds now.
func (o *oracle) window() (calls, failures int) {
	held := o.outcomes
	if n := o.settings.Window.Calls; n > 0 {
		held = held[max(0, len(held)-n):]
	}
	for _, d := range held {
		if width := int(o.settings.Window.Duration/tick) / timeBuckets; width > 0 {
			// Ten buckets of equal width, the first of which begins with the first outcome.
			age := (o.now-held[0].at)/width - (d.at-held[0].at)/width
			if age >= timeBuckets {
				continue
			}
		}
		calls++
		if d.failed {
			failures++
		}
	}
	return calls, failures
}

func (o *oracle) record(p permit, out outcome) {
	if _, counts := o.granted[p]; !counts {
		return
	}
	if o.state == StateHalfOpen {
		delete(o.granted, p)
		switch out {
		case failure:
			o.enter(StateOpen)
		case success:
			if o.good++; o.good == o.settings.HalfOpenMaxCalls {
				o.enter(StateClosed)
			}
		}
		return
	}
	if out == ignored {
		return
	}
	o.outcomes = append(o.outcomes, dated{at: o.now, failed: out == failure})
	calls, failures := o.window()
	if calls >= o.settings.MinimumCalls && 100*float64(failures)/float64(calls) >= float64(o.settings.FailureRate) {
		o.enter(StateOpen)
	}
}

// FuzzBreaker plays a game of permits, outcomes, waits, trips and resets to a breaker and to
// the oracle, and compares all that can be seen of them after each move.
func FuzzBreaker(f *testing.F) {
	f.Add([]byte{2, 0, 50, 1, 3, 3, 0, 0, 1, 0, 0, 1, 2, 9, 0, 0, 0, 1})
	f.Add([]byte{4, 1, 99, 2, 9, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2, 9, 0, 0, 0, 0, 5, 2, 4, 2, 2, 9, 0, 1, 4, 3, 0, 6})
	f.Add([]byte{1, 0, 1, 0, 1, 1, 0, 1, 2, 1, 0, 2, 1, 2, 1, 0, 3, 1, 0, 0, 2, 2, 0, 4, 2, 5, 0, 6, 0, 7, 1, 0})
	f.Fuzz(game)
}

// The same game at random, a thousand times.
func TestBreakerAgreesWithTheOracle(t *testing.T) {
	for seed := range uint64(1000) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			moves := make([]byte, 300)
			random := rand.New(rand.NewPCG(seed, 0))
			for i := range moves {
				moves[i] = byte(random.Uint32())
			}
			game(t, moves)
		})
	}
}

func game(t *testing.T, input []byte) {
	input = input[:min(len(input), 600)]
	next := func() int {
		if len(input) == 0 {
			return 0
		}
		b := input[0]
		input = input[1:]
		return int(b)
	}
	s := breakerSettings{CircuitBreakerSettings: CircuitBreakerSettings{MinimumCalls: 1 + next()%6}}
	if kind := next(); kind%2 == 0 {
		s.Window = Window{Calls: s.MinimumCalls + kind/2%5}
	} else {
		s.Window = Window{Duration: time.Duration(1+kind/2%3) * timeBuckets * tick}
	}
	s.FailureRate = 1 + next()%100
	s.HalfOpenMaxCalls = 1 + next()%4
	s.OpenDuration = time.Duration(1+next()%12) * tick
	s.HalfOpenMaxWait = time.Duration(1+next()%12) * tick
	synctest.Test(t, func(t *testing.T) { play(t, s, next, func() bool { return len(input) > 0 }) })
}

// play runs in a bubble, whose clock is the oracle's.
func play(t *testing.T, s breakerSettings, next func() int, more func() bool) {
	o := newOracle(s)
	b := newCircuitBreaker("fuzzed", s, &bus{})
	var issued []permit
	var sequence uint64
	state := b.state // as the transitions tell it

	observe := func(changes []transition) {
		for _, c := range changes {
			mustBe(t, "the chain of transitions", state, c.from)
			if c.from != c.to {
				sequence++
			}
			mustBe(t, "sequence", sequence, c.sequence)
			mustBe(t, "a transition in the future", false, c.at.After(time.Now()))
			state = c.to
		}
	}
	for more() {
		switch move := next() % 8; move {
		case 0, 1, 2: // ask
			want := o.mayPass()
			retryAfter, passable, changes := b.passable()
			observe(changes)
			mustBe(t, "passable", want, passable)
			quick, closed := b.isClosed()
			mustBe(t, "closed", o.state == StateClosed, closed)
			p, retry, ok, changes := b.permitAt(time.Now())
			observe(changes)
			mustBe(t, "a closed breaker's permit without the lock", true, !closed || quick == p)
			mustBe(t, "permitted", want, ok)
			mustBe(t, "retryAfter of passable and permitAt", retryAfter, retry)
			if !ok {
				if o.state == StateOpen {
					mustBe(t, "retryAfter", s.OpenDuration-time.Duration(o.now-o.since)*tick, retry)
				} else {
					mustBe(t, "retryAfter", time.Second, retry)
				}
				break
			}
			era, twice := o.eras[p]
			mustBe(t, "two probes with the same permit", false, twice && p.probe != 0)
			mustBe(t, "a permit of an earlier era again", false, twice && era != o.era)
			o.eras[p] = o.era
			o.granted[p] = o.now
			issued = append(issued, p)
		case 3, 4, 5: // an outcome; of an old permit, too
			if len(issued) == 0 {
				break
			}
			i := next() % len(issued)
			out := outcome(move - 3)
			observe(b.record(issued[i], out))
			o.record(issued[i], out)
			issued = append(issued[:i], issued[i+1:]...)
		case 6:
			ticks := next() % 16
			time.Sleep(time.Duration(ticks) * tick)
			o.advance(ticks)
		case 7:
			to := StateOpen
			if next()%2 == 0 {
				to = StateClosed
			}
			observe(b.forceAt(time.Now(), to, "forced"))
			o.enter(to)
		}
		compare(t, o, b, time.Now())
		compare(t, o, b, time.Now()) // reading changes nothing
	}
}

func compare(t *testing.T, o *oracle, b *CircuitBreaker, now time.Time) {
	t.Helper()
	want := CircuitBreakerStats{State: o.state}
	want.Calls, want.Failures = o.window()
	switch o.state {
	case StateOpen:
		want.RetryAfter = o.settings.OpenDuration - time.Duration(o.now-o.since)*tick
	case StateHalfOpen:
		want.Probes = len(o.granted)
	}
	got := b.statsAt(now)
	got.Since = want.Since
	mustBe(t, "stats", want, got)
}

// mustBe is require.Equal, fast enough to be called for each move.
func mustBe[T comparable](t *testing.T, what string, want, got T) {
	t.Helper()
	if want != got {
		t.Fatalf("%s: want %+v, got %+v", what, want, got)
	}
}
