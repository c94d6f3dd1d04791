package dashboard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestAnOutageIsToldFromItsBeginningToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
		d := newDashboard(t, registry)
		p := preset(t, registry, "carrier")
		call(p, 1, succeed)
		time.Sleep(time.Second)
		began := time.Now()
		call(p, 5, fail) // the last two are rejected

		time.Sleep(20 * time.Second)
		now := look(t, d)
		breaker := now.CircuitBreakers[0]
		assert.Equal(t, "carrier", breaker.Name)
		assert.Equal(t, "open", breaker.State)
		assert.Equal(t, began, breaker.Since.Local())
		assert.Equal(t, "3 of 4 calls failed", breaker.Reason)
		assert.Equal(t, outage{Began: began.UTC(), Reason: "3 of 4 calls failed"}, *breaker.Outage)
		assert.Equal(t, 40.0, breaker.RetryAfter)
		assert.Equal(t, []struct{ Calls, Failures int }{{1, 0}, {1, 1}, {1, 1}, {1, 1}}, breaker.Window)
		assert.Equal(t, []int{4, 3, 75, 4, 4}, []int{breaker.Calls, breaker.Failures, breaker.FailureRate, breaker.MinimumCalls, breaker.WindowCalls})
		assert.Equal(t, 60.0, breaker.OpenDuration)
		assert.Equal(t, "carrier", now.Policies[0].CircuitBreaker)
		require.Len(t, now.Fields, 1)
		assert.Equal(t, map[string]int{"answer": 1, "error": 3, "CIRCUIT_OPEN": 2}, now.Fields[0].Got)
		assert.Equal(t, "CIRCUIT_OPEN", now.Fields[0].Problem)
		assert.Equal(t, began.Add(-time.Second), now.Fields[0].LastAnswer.Local())

		time.Sleep(40 * time.Second)
		breaker = look(t, d).CircuitBreakers[0]
		assert.Equal(t, "half-open", breaker.State, "though nobody has called")
		assert.Equal(t, "the open duration is over: the next call is a probe", breaker.Reason)
		assert.Zero(t, breaker.RetryAfter)

		for range 20 { // probes fail, and their changes push the first one out
			call(p, 1, fail)
			time.Sleep(time.Minute)
		}
		breaker = look(t, d).CircuitBreakers[0]
		assert.Equal(t, outage{Began: began.UTC(), Reason: "3 of 4 calls failed"}, *breaker.Outage, "still the same one")
		assert.Len(t, breaker.Changes, 10)

		call(p, 1, succeed)
		recovered := time.Now().UTC()
		time.Sleep(time.Second)
		now = look(t, d)
		breaker = now.CircuitBreakers[0]
		assert.Equal(t, "closed", breaker.State)
		assert.Equal(t, outage{Began: began.UTC(), Reason: "3 of 4 calls failed", Ended: &recovered}, *breaker.Outage)
		assert.Equal(t, "all probes succeeded", breaker.Reason)
		assert.Empty(t, breaker.Window)
		var changes []string
		for _, c := range breaker.Changes {
			changes = append(changes, c.From+" to "+c.To)
		}
		assert.Equal(t, []string{"half-open to closed", "open to half-open", "half-open to open"}, changes[:3])
		assert.Equal(t, recovered, breaker.Changes[0].Time)

		call(p, 4, fail)
		time.Sleep(time.Second)
		breaker = look(t, d).CircuitBreakers[0]
		assert.Nil(t, breaker.Outage.Ended, "another one")
		assert.NotEqual(t, began.UTC(), breaker.Outage.Began)
	})
}

func TestWhatCallersGotIsForgottenAfterFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, map[string]policy.Spec{"carrier": {
			Timeout: &policy.TimeoutSpec{Duration: new(time.Second)},
			Retry:   &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Func: func(int, error) time.Duration { return 0 }}},
		}})
		d := newDashboard(t, registry)
		p := preset(t, registry, "carrier")
		call(p, 3, succeed)
		call(p, 1, fail)
		call(p, 1, func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() })
		call(p, 1, func(context.Context) (string, error) { return "", policy.AsClientError(errDown) })
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = policy.Execute(gone, p, succeed)

		now := look(t, d)
		assert.Equal(t, map[string]int{"answer": 3, "error": 1, "TIMEOUT": 1, "clientError": 1, "cancelled": 1}, now.Fields[0].Got)
		carrier := now.Policies[0]
		assert.Equal(t, "carrier", carrier.Name)
		assert.Equal(t, []int{7, 2, 0, 2}, []int{carrier.Total.Calls, carrier.Total.Failures, carrier.Total.Fallbacks, carrier.Total.Retries})
		assert.Equal(t, []int{7, 2, 0, 2}, []int{sum(carrier.Calls), sum(carrier.Failures), sum(carrier.Fallbacks), sum(carrier.Retries)})
		assert.Equal(t, 7, carrier.Calls[59], "in the column that is filling")
		assert.Equal(t, 2.0, *carrier.Total.P99)
		assert.InDelta(t, 0, *carrier.Total.P50, 64e-6)
		assert.Nil(t, carrier.P50[58])
		assert.Equal(t, 5.0, now.History.Step)

		time.Sleep(60 * time.Second)
		now = look(t, d)
		assert.Equal(t, 7, now.Policies[0].Calls[47], "a minute to the left")
		from := now.History.From.Add(47 * 5 * time.Second)
		assert.False(t, from.After(now.Server.Started) || from.Before(now.Server.Started.Add(-time.Second)), "%v", from)

		time.Sleep(4 * time.Minute)
		now = look(t, d)
		assert.Zero(t, now.Policies[0].Total.Calls)
		assert.Nil(t, now.Policies[0].Total.P99)
		assert.Empty(t, now.Fields[0].Got)
		assert.NotNil(t, now.Fields[0].LastAnswer, "but when it last went well stays")
	})
}

func TestAFallbackIsShownWhileItIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		registry := newRegistry(t, map[string]policy.Spec{"carrier": {Fallback: &policy.FallbackSpec{
			Func: func(context.Context, error) (any, error) { return "flat rate", nil },
		}}})
		d := newDashboard(t, registry)
		p := preset(t, registry, "carrier")
		ask := func(context.Context) (string, error) {
			if down {
				return "", errDown
			}
			return "quote", nil
		}
		began := time.Now()
		call(p, 1, ask)
		time.Sleep(50 * time.Second)
		call(p, 2, ask)
		now := look(t, d)
		require.Len(t, now.Fallbacks, 1)
		fallback := now.Fallbacks[0]
		assert.Equal(t, "Query.carrier", fallback.Field)
		assert.Equal(t, "*errors.errorString", fallback.For, "and not what it says")
		assert.Equal(t, 3, fallback.Count)
		assert.Equal(t, began, fallback.Since.Local())
		assert.Equal(t, began.Add(50*time.Second), fallback.Last.Local())
		assert.Equal(t, map[string]int{"fallback": 3}, now.Fields[0].Got)
		assert.Equal(t, 3, now.Policies[0].Total.Fallbacks)
		assert.Zero(t, now.Policies[0].Total.Failures)

		down = false
		time.Sleep(time.Second)
		call(p, 1, ask)
		assert.NotEmpty(t, look(t, d).Fallbacks, "other items of a list may not have answered")
		time.Sleep(time.Second)
		assert.Empty(t, look(t, d).Fallbacks, "it has recovered")

		down = true
		call(p, 1, ask)
		time.Sleep(30 * time.Second)
		assert.Equal(t, 1, look(t, d).Fallbacks[0].Count, "one that begins anew")
		time.Sleep(31 * time.Second)
		assert.Empty(t, look(t, d).Fallbacks, "nobody has asked for a minute")
	})
}

func TestLoadsAreShownAgainstTheirLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, map[string]policy.Spec{
			"export": {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(2), MaxQueue: new(1)}},
			"sms":    {RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Minute), Burst: new(3)}},
		})
		d := newDashboard(t, registry)
		export, sms := preset(t, registry, "export"), preset(t, registry, "sms")
		release := make(chan struct{})
		for range 3 {
			go call(export, 1, func(context.Context) (string, error) { <-release; return "", nil })
		}
		synctest.Wait()
		call(export, 4, succeed)
		call(sms, 5, succeed)

		now := look(t, d)
		bulkhead := now.Bulkheads[0]
		assert.Equal(t, "export", bulkhead.Name)
		assert.Equal(t, []int{2, 2, 1, 1, 4}, []int{bulkhead.Running, bulkhead.MaxConcurrent, bulkhead.Queued, bulkhead.MaxQueue, bulkhead.Rejected})
		limiter := now.RateLimiters[0]
		assert.Equal(t, "sms", limiter.Name)
		assert.Equal(t, []int{0, 3, 1, 2}, []int{limiter.Available, limiter.Burst, limiter.Limit, limiter.Rejected})
		assert.Equal(t, 60.0, limiter.Interval)
		assert.Equal(t, map[string]int{"BULKHEAD_FULL": 4}, now.Fields[0].Got)
		assert.Equal(t, map[string]int{"RATE_LIMITED": 2, "answer": 3}, now.Fields[1].Got)
		close(release)
	})
}

func TestEventsThatAreAlikeAreToldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
		d := newDashboard(t, registry)
		p := preset(t, registry, "carrier")
		call(p, 4, fail)
		opened := time.Now()
		for range 1000 {
			call(p, 1, succeed)
			time.Sleep(time.Millisecond)
		}
		events := look(t, d).Events
		require.Len(t, events, 2)
		assert.Equal(t, event{
			Time: opened.UTC(), Last: opened.Add(999 * time.Millisecond).UTC(), Count: 1000, Attempt: 1, Kind: "circuit-rejected",
			Policy: "carrier", Field: "Query.carrier", Gate: "carrier", Error: "CIRCUIT_OPEN",
		}, events[0])
		assert.Equal(t, event{
			Time: opened.UTC(), Last: opened.UTC(), Count: 1, Kind: "circuit-open", Policy: "carrier", Field: "Query.carrier",
			Gate: "carrier", From: "closed", To: "open", Reason: "4 of 4 calls failed",
		}, events[1])

		time.Sleep(11 * time.Second)
		call(p, 1, succeed)
		time.Sleep(time.Second)
		events = look(t, d).Events
		assert.Equal(t, []int{1, 1000, 1}, []int{events[0].Count, events[1].Count, events[2].Count}, "but not what comes much later")

		breaker, _ := registry.CircuitBreaker("carrier")
		for range 200 {
			breaker.Reset()
			breaker.Trip()
		}
		time.Sleep(time.Second)
		now := look(t, d)
		assert.Len(t, now.Events, 100)
		assert.Equal(t, "tripped", now.Events[0].Reason)
		assert.Len(t, now.CircuitBreakers[0].Changes, 10)
		assert.Equal(t, "tripped", now.CircuitBreakers[0].Reason)
	})
}

func TestErrorsAreToldByTheirTextToWhoAsksForIt(t *testing.T) {
	registry := newRegistry(t, map[string]policy.Spec{"carrier": {Retry: &policy.RetrySpec{
		Attempts: new(2), Backoff: &policy.BackoffSpec{Func: func(int, error) time.Duration { return 0 }},
	}}})
	discreet, open := newDashboard(t, registry), newDashboard(t, registry, dashboard.WithErrorText(error.Error))
	call(preset(t, registry, "carrier"), 1, fail)
	assert.Equal(t, "*errors.errorString", look(t, discreet).Events[0].Error)
	assert.Equal(t, "the carrier is down", look(t, open).Events[0].Error)
}

func TestFieldsBeyondTheLimitAreShownTogether(t *testing.T) {
	registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier})
	d := newDashboard(t, registry)
	p := preset(t, registry, "carrier")
	for i := range 300 {
		call(p.WithSource(string(rune('a'+i%26))+string(rune('a'+i/26))), 1, succeed)
	}
	now := look(t, d)
	require.Len(t, now.Fields, 251)
	assert.Equal(t, "_OTHER", now.Fields[0].Field)
	assert.Equal(t, 50, now.Fields[0].Got["answer"])
}
