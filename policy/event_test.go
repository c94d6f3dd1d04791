package policy_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Each kind of event with all of its fields; those of rejections and of abandonment are
// tested with the gates.
func TestEventsTellAllThatTheyShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Config{Presets: map[string]policy.Spec{"carrier": {
			Timeout: &policy.TimeoutSpec{Duration: new(time.Second)},
			Retry:   retrySpec(2, 3*time.Second),
			CircuitBreaker: &policy.CircuitBreakerSpec{
				Name: new("line"), MinimumCalls: new(2), Window: policy.CountWindow(2), OpenDuration: new(time.Minute),
			},
			Fallback: &policy.FallbackSpec{Func: answer},
		}}})
		events := record(registry)
		p := compose(t, registry, policy.Composition{Name: "Query.quotes", Preset: "carrier"})
		start := time.Now()
		calls := 0
		_ = run(t.Context(), p, func(ctx context.Context) (string, error) {
			if calls++; calls == 1 {
				return obey(ctx)
			}
			return "", errDown
		})
		_ = run(t.Context(), p, fail)
		time.Sleep(time.Minute)
		_ = run(t.Context(), p, succeed)

		timedOut := events.all()[0].Err
		assert.ErrorIs(t, timedOut, policy.ErrTimeout)
		rejected := events.of(policy.EventCircuitRejected)[0].Err
		assert.ErrorIs(t, rejected, policy.ErrCircuitOpen)
		at := func(d time.Duration) time.Time { return start.Add(d) }
		e := policy.Event{Policy: "carrier", Source: "Query.quotes"}
		want := []policy.Event{
			{Kind: policy.EventTimeout, Time: at(time.Second), Attempt: 1, Timeout: time.Second, Err: timedOut},
			{Kind: policy.EventRetry, Time: at(time.Second), Attempt: 1, Delay: 3 * time.Second, Err: timedOut},
			{Kind: policy.EventCircuitOpen, Time: at(4 * time.Second), Gate: "line", From: policy.StateClosed, To: policy.StateOpen,
				Reason: "2 of 2 calls failed", Sequence: 1},
			{Kind: policy.EventFallback, Time: at(4 * time.Second), Err: errDown},
			{Kind: policy.EventCircuitRejected, Time: at(4 * time.Second), Gate: "line", Attempt: 1, RetryAfter: time.Minute, Err: rejected},
			{Kind: policy.EventFallback, Time: at(4 * time.Second), Err: rejected},
			{Kind: policy.EventCircuitHalfOpen, Time: at(64 * time.Second), Gate: "line", From: policy.StateOpen, To: policy.StateHalfOpen,
				Reason: "the open duration is over", Sequence: 2},
			{Kind: policy.EventCircuitClosed, Time: at(64 * time.Second), Gate: "line", From: policy.StateHalfOpen, To: policy.StateClosed,
				Reason: "all probes succeeded", Sequence: 3},
		}
		for i := range want {
			want[i].Policy, want[i].Source = e.Policy, e.Source
		}
		assert.Equal(t, want, events.all())
	})
}

func TestAnAttemptThatIsOutOfTimeBeforeItBeginsHasTheNumberThatItWouldHaveHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{
			Retry: retrySpec(3, 0), Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1)},
		})
		events := record(registry)
		_, err := within(t.Context(), p, lasting(0), succeed)
		require.ErrorIs(t, err, policy.ErrTimeout)

		end := make(chan struct{})
		_, err = within(t.Context(), p, lasting(time.Second), func(context.Context) (string, error) {
			go func() {
				_ = run(t.Context(), p, func(context.Context) (string, error) { <-end; return "", nil })
			}() // which queues, and has the slot before the retry
			synctest.Wait()
			return "", errDown
		})
		require.ErrorIs(t, err, policy.ErrTimeout)
		close(end)

		var numbers []int
		for _, e := range events.of(policy.EventTimeout) {
			numbers = append(numbers, e.Attempt)
		}
		assert.Equal(t, []int{1, 2}, numbers)
	})
}

func TestABulkheadEventTellsWhoRunsAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, registry := newBulkhead(t, policy.BulkheadSpec{MaxConcurrent: new(2), MaxQueue: new(1)})
		events := record(registry)
		releases := []func(error){held(t, p), held(t, p)}
		var waiting sync.WaitGroup
		waiting.Go(func() { _ = run(t.Context(), p, succeed) })
		synctest.Wait()
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrBulkheadFull)
		e := events.all()[0]
		assert.Equal(t, []int{2, 1}, []int{e.Running, e.Queued})
		for _, release := range releases {
			release(nil)
		}
		waiting.Wait()
	})
}

func TestSubscribersGetTheCallersContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		spec := quickBreaker(nil)
		spec.Timeout, spec.Retry, spec.Fallback = timeoutSpec(time.Second, policy.Enforced), retrySpec(2, 0), &policy.FallbackSpec{Func: answer}
		p, registry := newPolicy(t, spec)
		seen := map[policy.EventKind]bool{}
		registry.Subscribe(func(ctx context.Context, e policy.Event) {
			assert.Equal(t, "field", ctx.Value(key{}), e.Kind)
			assert.NoError(t, ctx.Err(), "not the attempt's context, which has ended")
			seen[e.Kind] = true // without a lock: all come on the caller's goroutine
		})
		_ = run(context.WithValue(t.Context(), key{}, "field"), p, obey)
		assert.Len(t, seen, 4)
	})
}

func TestASubscriberThatPanicsHarmsNothing(t *testing.T) {
	var logged bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	defer slog.SetDefault(before)
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, quickBreaker(nil))
		registry.Subscribe(func(context.Context, policy.Event) { panic("subscriber bug") })
		events := record(registry)
		times(2, p, fail)
		assert.ErrorIs(t, run(t.Context(), p, succeed), policy.ErrCircuitOpen)
		assert.Equal(t, []policy.EventKind{"circuit-open", "circuit-rejected"}, events.kinds(), "the next one is told all the same")
	})
	assert.Contains(t, logged.String(), "subscriber bug")
	assert.Contains(t, logged.String(), "event=circuit-open")
}

// A subscriber may call back: no lock is held.
func TestASubscriberMayAskAndAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := quickBreaker(nil)
		spec.Bulkhead, spec.RateLimit = &policy.BulkheadSpec{}, limitSpec(100, time.Second)
		spec.Timeout, spec.Retry = timeoutSpec(time.Second, policy.Enforced), retrySpec(3, 0)
		p, registry := newPolicy(t, spec)
		breaker, _ := registry.CircuitBreaker("carrier")
		bulkhead, _ := registry.Bulkhead("carrier")
		limiter, _ := registry.RateLimiter("carrier")
		told := 0
		registry.Subscribe(func(ctx context.Context, e policy.Event) {
			if told++; told > 50 {
				return
			}
			_, _, _, _ = breaker.State(), breaker.Stats(), bulkhead.Running(), bulkhead.Queued()
			_, _ = limiter.Available(), registry.Abandoned()
			_, _ = registry.CircuitBreaker("carrier")
			registry.Subscribe(func(context.Context, policy.Event) {})()
			_, err := registry.Preset("none")
			assert.Error(t, err)
			if e.Kind == policy.EventCircuitOpen {
				breaker.Reset()
			}
		})
		times(2, p, deaf(time.Minute))
		breaker.Trip()
		require.NoError(t, registry.Wait(t.Context()))
		assert.Equal(t, policy.StateClosed, breaker.State())
		assert.NotZero(t, told)
	})
}

func TestACancelledSubscriptionIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(2, 0)})
		first, second, third := 0, 0, 0
		registry.Subscribe(func(context.Context, policy.Event) { first++ })
		cancel := registry.Subscribe(func(context.Context, policy.Event) { second++ })
		registry.Subscribe(func(context.Context, policy.Event) { third++ })
		times(1, p, fail)
		cancel()
		cancel() // harmless
		times(1, p, fail)
		assert.Equal(t, []int{2, 1, 2}, []int{first, second, third})
	})
}

func TestASubscriberMayCancelItselfWhileOthersAreYetToBeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(2, 0)})
		var told []string
		var cancel func()
		cancel = registry.Subscribe(func(context.Context, policy.Event) { told = append(told, "first"); cancel() })
		registry.Subscribe(func(context.Context, policy.Event) { told = append(told, "second") })
		registry.Subscribe(func(context.Context, policy.Event) { told = append(told, "third") })
		times(2, p, fail)
		assert.Equal(t, []string{"first", "second", "third", "second", "third"}, told)
	})
}

func TestASubscriberMustBeAFunction(t *testing.T) {
	_, registry := newPolicy(t, policy.Spec{Retry: &policy.RetrySpec{}})
	assert.PanicsWithValue(t, "policy: Registry.Subscribe: the function is nil", func() { registry.Subscribe(nil) })
}

func TestSubscriptionsMayComeAndGoWhileCallsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := newPolicy(t, policy.Spec{Retry: retrySpec(5, time.Millisecond)})
		staying := record(registry)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { times(10, p, fail) })
			all.Go(func() {
				for range 10 {
					var heard atomic.Int64
					cancel := registry.Subscribe(func(context.Context, policy.Event) { heard.Add(1) })
					time.Sleep(1500 * time.Microsecond) // every millisecond each call fails
					cancel()
					assert.GreaterOrEqual(t, heard.Load(), int64(20))
				}
			})
		}
		all.Wait()
		assert.Len(t, staying.of(policy.EventRetry), 20*10*4)
	})
}

// Listening costs a success nothing, and nobody listening costs a rejection no event.
func TestASuccessAllocatesTheSameWithAndWithoutSubscribers(t *testing.T) {
	spec := quickBreaker(nil)
	spec.Bulkhead, spec.Retry = &policy.BulkheadSpec{}, retrySpec(3, 0)
	p, registry := newPolicy(t, spec)
	success := func() { _, _ = policy.Execute(context.Background(), p, succeed) }
	bare := testing.AllocsPerRun(1000, success)
	cancel := registry.Subscribe(func(context.Context, policy.Event) {})
	assert.Equal(t, bare, testing.AllocsPerRun(1000, success))
	cancel()
	assert.Equal(t, bare, testing.AllocsPerRun(1000, success))

	breaker, _ := registry.CircuitBreaker("carrier")
	breaker.Trip()
	var held policy.Event
	rejected := testing.AllocsPerRun(1000, success)
	registry.Subscribe(func(_ context.Context, e policy.Event) { held = e })
	assert.Equal(t, rejected, testing.AllocsPerRun(1000, success), "an event is a value")
	assert.Equal(t, policy.EventCircuitRejected, held.Kind)
}
