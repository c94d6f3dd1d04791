package policy_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

const graceTime = 10 * time.Millisecond // of the Enforced mode

// worstCase is that of a policy of spec, with retries.
func worstCase(t *testing.T, spec policy.Spec) policy.WorstCase {
	t.Helper()
	p, _ := newPolicy(t, spec)
	return p.Describe().WorstCase(true)
}

// spent is how long the function ran under p.
func spent(p *policy.Policy, fn func(context.Context) (string, error)) time.Duration {
	start := time.Now()
	_, _ = policy.Execute(context.Background(), p, fn)
	return time.Since(start)
}

// hang runs far beyond every limit and, in the cooperative mode, obeys.
func hang(mode policy.TimeoutMode) func(context.Context) (string, error) {
	if mode == policy.Enforced {
		return deaf(10 * time.Minute)
	}
	return obey
}

// askingFor fails just before the attempt's time is up and asks for a wait.
func askingFor(wait time.Duration) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		remaining, _ := policy.RemainingTime(ctx)
		time.Sleep(remaining - 1)
		return "", policy.WithRetryAfter(errDown, wait)
	}
}

// backedOff makes attempts with such a backoff.
func backedOff(attempts int, b policy.BackoffSpec) *policy.RetrySpec {
	return &policy.RetrySpec{Attempts: new(attempts), Backoff: &b}
}

// With every wait fixed, a function that always hangs takes the worst case to the nanosecond.
func TestTheWorstCaseIsWhatACallTakesAtWorst(t *testing.T) {
	for _, row := range []struct {
		name  string
		spec  policy.Spec
		limit time.Duration // without the grace
		late  int           // how many attempts' grace is in it
	}{
		{"one attempt", policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)}}, 2 * time.Second, 1},
		{"retries", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)},
			Retry: backedOff(4, policy.BackoffSpec{
				Delay: new(time.Second), Factor: new(3.0), MaxDelay: new(5 * time.Second), Jitter: new(policy.JitterNone)}),
		}, 4*2*time.Second + (1+3+5)*time.Second, 4},
		{"retries at one pace", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)}, Retry: retrySpec(3, time.Second),
		}, 3*2*time.Second + 2*time.Second, 3},
		{"a backoff's func", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)},
			Retry: backedOff(2, policy.BackoffSpec{
				MaxDelay: new(7 * time.Second), Func: func(int, error) time.Duration { return time.Hour }}),
		}, 2*2*time.Second + 7*time.Second, 2},
		{"total during an attempt", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second), Total: new(7 * time.Second)}, Retry: retrySpec(4, time.Second),
		}, 7 * time.Second, 1},
		{"total alone", policy.Spec{Timeout: &policy.TimeoutSpec{Total: new(7 * time.Second)}, Retry: retrySpec(9, 0)}, 7 * time.Second, 1},
		{"no retry starts after total", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second), Total: new(7 * time.Second)}, Retry: retrySpec(9, 7*time.Second),
		}, 2 * time.Second, 1},
		{"unlimited attempts within total", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second), Total: new(time.Hour)},
			Retry:   retrySpec(policy.Unlimited, 0),
		}, time.Hour, 1},
		{"more attempts within total than are counted", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second), Total: new(time.Hour)},
			Retry:   retrySpec(1_000_000_000, 0),
		}, time.Hour, 1},
		{"a total a moment after the timeout", policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second), Total: new(2*time.Second + 1)},
		}, 2 * time.Second, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
				synctest.Test(t, func(t *testing.T) {
					row.spec.Timeout.Mode = new(mode)
					p, registry := newPolicy(t, row.spec)
					worst := p.Describe().WorstCase(true)

					want := row.limit
					if mode == policy.Enforced {
						want += time.Duration(row.late) * graceTime
					}
					assert.Empty(t, worst.Unbounded)
					assert.Equal(t, want, worst.WithoutRetryAfter)
					assert.GreaterOrEqual(t, worst.Duration, worst.WithoutRetryAfter)
					if took := spent(p, hang(mode)); row.spec.Timeout.Total == nil || row.limit < *row.spec.Timeout.Total {
						assert.Equal(t, worst.WithoutRetryAfter, took)
					} else { // whether an attempt runs when total ends depends on when the others failed
						assert.LessOrEqual(t, took, worst.WithoutRetryAfter)
						assert.GreaterOrEqual(t, took, *row.spec.Timeout.Total-time.Second)
					}
					require.NoError(t, registry.Wait(t.Context()))
				})
			})
		})
	}
}

// A Retry-After may lengthen each wait up to MaxDelay, but only a failure can carry one, which
// comes before the attempt's time is up.
func TestTheWorstCaseCountsWhatADependencyMayAskFor(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			const maxDelay = 5 * time.Second
			p, registry := newPolicy(t, policy.Spec{
				Timeout: timeoutSpec(2*time.Second, mode),
				Retry:   backedOff(3, policy.BackoffSpec{Delay: new(time.Second), MaxDelay: new(maxDelay)}),
			})
			late := time.Duration(0)
			if mode == policy.Enforced {
				late = graceTime
			}
			worst := p.Describe().WorstCase(true)
			assert.Equal(t, policy.WorstCase{
				Duration:          3*2*time.Second + 2*maxDelay + late,
				WithoutRetryAfter: 3*(2*time.Second+late) + time.Second + 2*time.Second,
			}, worst)
			took := spent(p, func(ctx context.Context) (string, error) {
				if policy.AttemptFromContext(ctx) == 3 {
					return hang(mode)(ctx)
				}
				return askingFor(maxDelay)(ctx)
			})
			assert.Equal(t, worst.Duration-2, took, "each failed a nanosecond before its time was up")
			require.NoError(t, registry.Wait(t.Context()))
		})
	})
}

// Where the backoff itself waits for nearly MaxDelay, timing out takes longer than asking.
func TestTheWorstCaseOfAWaitNearTheMaximumIsATimeout(t *testing.T) {
	spec := policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced), Retry: backedOff(2, policy.BackoffSpec{
		Delay: new(5*time.Second - 4*time.Millisecond), MaxDelay: new(5 * time.Second),
	})}
	want := 2*(time.Second+graceTime) + 5*time.Second - 4*time.Millisecond
	assert.Equal(t, policy.WorstCase{Duration: want, WithoutRetryAfter: want}, worstCase(t, spec))
}

// A wait that chance or a func may make shorter lets a retry start before total ends it all.
func TestTheWorstCaseCountsEveryRetryThatMayStartWithinTotal(t *testing.T) {
	for _, row := range []struct {
		backoff policy.BackoffSpec
		want    time.Duration
	}{
		{policy.BackoffSpec{Jitter: new(policy.JitterNone)}, time.Second},
		{policy.BackoffSpec{Jitter: new(policy.JitterEqual)}, 9 * time.Second},
		{policy.BackoffSpec{Jitter: new(policy.JitterFull)}, 9 * time.Second},
		{policy.BackoffSpec{Func: func(int, error) time.Duration { return 0 }}, 9 * time.Second},
	} {
		row.backoff.MaxDelay = new(10 * time.Second)
		if row.backoff.Func == nil {
			row.backoff.Delay = new(10 * time.Second)
		}
		assert.Equal(t, policy.WorstCase{Duration: row.want, WithoutRetryAfter: row.want}, worstCase(t, policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(time.Second), Total: new(9 * time.Second)}, Retry: backedOff(2, row.backoff),
		}))
	}
}

func TestTheWorstCaseTakesJitterAtItsHighest(t *testing.T) {
	for _, jitter := range []policy.Jitter{policy.JitterFull, policy.JitterEqual, policy.JitterNone} {
		worst := worstCase(t, policy.Spec{
			Timeout: timeoutSpec(time.Second, policy.Cooperative),
			Retry:   backedOff(2, policy.BackoffSpec{Delay: new(3 * time.Second), Jitter: new(jitter)}),
		})
		assert.Equal(t, 5*time.Second, worst.WithoutRetryAfter, jitter)
	}
}

func TestTheWorstCaseOfOneAttemptHasNoWaits(t *testing.T) {
	p, _ := newPolicy(t, policy.Spec{Timeout: timeoutSpec(2*time.Second, policy.Cooperative), Retry: retrySpec(policy.Unlimited, time.Second)})
	assert.Equal(t, policy.WorstCase{Duration: 2 * time.Second, WithoutRetryAfter: 2 * time.Second}, p.Describe().WorstCase(false))
	assert.Equal(t, policy.WorstCase{Unbounded: "retry.attempts: unlimited"}, p.Describe().WorstCase(true))
}

// The waits in the queue and for the limiter come before each attempt, one after the other.
func TestTheWorstCaseCountsWaitingAtTheGates(t *testing.T) {
	bothModes(t, func(t *testing.T, mode policy.TimeoutMode) {
		synctest.Test(t, func(t *testing.T) {
			const queue, turn, timeout, pause = 3 * time.Second, 5 * time.Second, 2 * time.Second, 20 * time.Second
			registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{"carrier": {
				Bulkhead:  &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1), QueueTimeout: new(queue)},
				RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(turn), Burst: new(1), MaxWait: new(turn)},
			}}})
			with := func(spec policy.Spec) *policy.Policy {
				return compose(t, registry, policy.Composition{Name: "field", Origin: "field", Preset: "carrier", Layers: layer("field", spec)})
			}
			p := with(policy.Spec{Timeout: timeoutSpec(timeout, mode), Retry: retrySpec(2, pause)})
			slotOnly := with(policy.Spec{RateLimit: &policy.RateLimitSpec{Enabled: new(false)}})
			tokenOnly := with(policy.Spec{Bulkhead: &policy.BulkheadSpec{Enabled: new(false)}})

			late := time.Duration(0)
			if mode == policy.Enforced {
				late = graceTime
			}
			worst := p.Describe().WorstCase(true)
			assert.Equal(t, 2*(queue+turn+timeout+late)+pause, worst.WithoutRetryAfter)
			assert.Equal(t, 2*(queue+turn+timeout)+time.Minute+late, worst.Duration)

			// Whoever holds the slot gives it back when the queue timeout is all but over, just
			// after the token was taken.
			hold := func(d time.Duration) {
				_ = run(context.Background(), slotOnly, func(context.Context) (string, error) {
					time.Sleep(d + queue - 1)
					return "", run(context.Background(), tokenOnly, succeed)
				})
			}
			go hold(0)
			synctest.Wait()
			took := spent(p, func(ctx context.Context) (string, error) {
				if policy.AttemptFromContext(ctx) == 1 {
					go hold(pause) // as soon as this attempt is over
				}
				return hang(mode)(ctx)
			})
			assert.Equal(t, worst.WithoutRetryAfter-2, took)
			require.NoError(t, registry.Wait(t.Context()))
		})
	})
}

func TestWhatHasNoBoundIsNamed(t *testing.T) {
	queue := &policy.BulkheadSpec{MaxQueue: new(1)}
	second, total := &policy.TimeoutSpec{Duration: new(time.Second)}, &policy.TimeoutSpec{Duration: new(time.Second), Total: new(9 * time.Second)}
	for _, row := range []struct {
		spec policy.Spec
		want policy.WorstCase
	}{
		{policy.Spec{Retry: &policy.RetrySpec{}}, policy.WorstCase{Unbounded: "attempts without timeout.duration"}},
		{policy.Spec{Timeout: second, Bulkhead: queue}, policy.WorstCase{Unbounded: "a queue without bulkhead.queueTimeout"}},
		{policy.Spec{Timeout: second, Retry: &policy.RetrySpec{Attempts: new(policy.Unlimited)}}, policy.WorstCase{Unbounded: "retry.attempts: unlimited"}},
		{policy.Spec{Timeout: total, Bulkhead: queue}, policy.WorstCase{Duration: 9 * time.Second, WithoutRetryAfter: 9 * time.Second}},
		{policy.Spec{Timeout: second, Bulkhead: &policy.BulkheadSpec{}}, policy.WorstCase{Duration: time.Second, WithoutRetryAfter: time.Second}},
	} {
		assert.Equal(t, row.want, worstCase(t, row.spec))
	}
}

func TestAWorstCaseTooLongForADurationIsTheLongest(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	for _, spec := range []policy.Spec{
		{Timeout: timeoutSpec(longest, policy.Enforced)},
		{Timeout: timeoutSpec(time.Hour, policy.Cooperative), Retry: retrySpec(1_000_000_000, time.Hour)},
		{Timeout: &policy.TimeoutSpec{Total: new(longest), Mode: new(policy.Enforced)}},
	} {
		assert.Equal(t, policy.WorstCase{Duration: longest, WithoutRetryAfter: longest}, worstCase(t, spec))
	}
}

// Attempts beyond those counted one by one are taken at their longest.
func TestTheWorstCaseOfVeryManyAttempts(t *testing.T) {
	worst := worstCase(t, policy.Spec{
		Timeout: timeoutSpec(time.Millisecond, policy.Cooperative),
		Retry:   backedOff(1_000_001, policy.BackoffSpec{Delay: new(time.Millisecond), Factor: new(1.0), MaxDelay: new(time.Second)}),
	})
	assert.Equal(t, policy.WorstCase{
		Duration:          1_000_001*time.Millisecond + 1_000_000*time.Second,
		WithoutRetryAfter: 1_000_001*time.Millisecond + 1000*time.Millisecond + 999_000*time.Second,
	}, worst)
}

// No mix of hanging, failing and asking takes longer, whatever the settings.
func TestNoCallTakesLongerThanTheWorstCase(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		synctest.Test(t, func(t *testing.T) {
			pick := func(d time.Duration) time.Duration { return 1 + time.Duration(random.Int64N(int64(d))) }
			mode := policy.TimeoutMode(1 + random.IntN(2))
			maxDelay := pick(3 * time.Second)
			spec := policy.Spec{
				Timeout: timeoutSpec(pick(2*time.Second), mode),
				Retry: backedOff(1+random.IntN(5), policy.BackoffSpec{
					Delay: new(pick(maxDelay)), MaxDelay: new(maxDelay), Factor: new(1 + random.Float64()), Jitter: new(policy.Jitter(1 + random.IntN(3))),
				}),
			}
			if random.IntN(2) == 0 {
				spec.Timeout.Total = new(pick(15 * time.Second))
			}
			if random.IntN(2) == 0 {
				spec.Bulkhead = &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(2), QueueTimeout: new(pick(3 * time.Second))}
			}
			if random.IntN(2) == 0 {
				interval := pick(3 * time.Second)
				spec.RateLimit = &policy.RateLimitSpec{Limit: new(1), Interval: new(interval), MaxWait: new(3 * interval)}
			}
			p, registry := newPolicy(t, spec)
			worst := p.Describe().WorstCase(true)
			longest := make(chan time.Duration, 3)
			for range cap(longest) {
				behaviours := random.Perm(3)
				go func() {
					longest <- spent(p, func(ctx context.Context) (string, error) {
						switch behaviours[policy.AttemptFromContext(ctx)%3] {
						case 0:
							return hang(mode)(ctx)
						case 1:
							return askingFor(maxDelay)(ctx)
						default:
							return askingFor(0)(ctx)
						}
					})
				}()
			}
			for range cap(longest) {
				assert.LessOrEqual(t, <-longest, worst.Duration)
			}
			require.NoError(t, registry.Wait(t.Context()))
		})
	}
}
