package policy_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func answer(context.Context, error) (any, error) { return "flat rate", nil }

// limitSpec is a rate limit that has what it needs.
func limitSpec(limit int, interval time.Duration) *policy.RateLimitSpec {
	return &policy.RateLimitSpec{Limit: &limit, Interval: &interval}
}

func backoffSpec(b policy.BackoffSpec) policy.Spec {
	return policy.Spec{Retry: &policy.RetrySpec{Backoff: &b}}
}

func breakerSpec(b policy.CircuitBreakerSpec) policy.Spec { return policy.Spec{CircuitBreaker: &b} }
func bulkheadSpec(b policy.BulkheadSpec) policy.Spec      { return policy.Spec{Bulkhead: &b} }
func timeout(t policy.TimeoutSpec) policy.Spec            { return policy.Spec{Timeout: &t} }

func rateLimit(change func(*policy.RateLimitSpec)) policy.Spec {
	limit := limitSpec(10, time.Second)
	change(limit)
	return policy.Spec{RateLimit: limit}
}

// Each bad value of a preset, and the whole message about it.
func TestBadValuesAreNamedWithSettingValueAndOrigin(t *testing.T) {
	hour := new(time.Hour)
	for name, row := range map[string]struct {
		spec policy.Spec
		want string // %p stands for the origin
	}{
		"duration zero":         {timeout(policy.TimeoutSpec{Duration: new(time.Duration(0))}), "timeout.duration: 0s (%p): must be positive"},
		"duration negative":     {timeout(policy.TimeoutSpec{Duration: new(-time.Second)}), "timeout.duration: -1s (%p): must be positive"},
		"total zero":            {timeout(policy.TimeoutSpec{Total: new(time.Duration(0))}), "timeout.total: 0s (%p): must be positive"},
		"total negative":        {timeout(policy.TimeoutSpec{Total: new(-time.Hour)}), "timeout.total: -1h0m0s (%p): must be positive"},
		"no duration at all":    {timeout(policy.TimeoutSpec{}), "timeout.duration: missing (%p): the stage is on and needs a duration or a total"},
		"unknown mode":          {timeout(policy.TimeoutSpec{Duration: hour, Mode: new(policy.TimeoutMode(3))}), "timeout.mode: TimeoutMode(3) (%p): must be Cooperative or Enforced"},
		"mode zero":             {timeout(policy.TimeoutSpec{Duration: hour, Mode: new(policy.TimeoutMode(0))}), "timeout.mode: TimeoutMode(0) (%p): must be Cooperative or Enforced"},
		"maxAbandoned zero":     {timeout(policy.TimeoutSpec{Duration: hour, MaxAbandoned: new(0)}), "timeout.maxAbandoned: 0 (%p): must be at least 1"},
		"maxAbandoned negative": {timeout(policy.TimeoutSpec{Duration: hour, MaxAbandoned: new(-5)}), "timeout.maxAbandoned: -5 (%p): must be at least 1"},

		"attempts zero":          {policy.Spec{Retry: &policy.RetrySpec{Attempts: new(0)}}, "retry.attempts: 0 (%p): must be at least 1"},
		"attempts below minus 1": {policy.Spec{Retry: &policy.RetrySpec{Attempts: new(-2)}}, "retry.attempts: -2 (%p): must be at least 1"},
		"delay negative":         {backoffSpec(policy.BackoffSpec{Delay: new(-time.Second)}), "retry.backoff.delay: -1s (%p): must be at least 0s"},
		"delay over maxDelay":    {backoffSpec(policy.BackoffSpec{Delay: new(2 * time.Second), MaxDelay: new(time.Second)}), "retry.backoff.delay: 2s (%p): must be at most maxDelay, 1s (%p)"},
		"delay over the default": {backoffSpec(policy.BackoffSpec{Delay: new(time.Minute)}), "retry.backoff.delay: 1m0s (%p): must be at most maxDelay, 30s (built-in default)"},
		"maxDelay zero":          {backoffSpec(policy.BackoffSpec{MaxDelay: new(time.Duration(0))}), "retry.backoff.maxDelay: 0s (%p): must be positive"},
		"maxDelay negative":      {backoffSpec(policy.BackoffSpec{MaxDelay: new(-time.Second)}), "retry.backoff.maxDelay: -1s (%p): must be positive"},
		"factor below 1":         {backoffSpec(policy.BackoffSpec{Factor: new(0.5)}), "retry.backoff.factor: 0.5 (%p): must be at least 1, and finite"},
		"factor negative":        {backoffSpec(policy.BackoffSpec{Factor: new(-2.0)}), "retry.backoff.factor: -2 (%p): must be at least 1, and finite"},
		"factor NaN":             {backoffSpec(policy.BackoffSpec{Factor: new(math.NaN())}), "retry.backoff.factor: NaN (%p): must be at least 1, and finite"},
		"factor infinite":        {backoffSpec(policy.BackoffSpec{Factor: new(math.Inf(1))}), "retry.backoff.factor: +Inf (%p): must be at least 1, and finite"},
		"jitter zero":            {backoffSpec(policy.BackoffSpec{Jitter: new(policy.Jitter(0))}), "retry.backoff.jitter: Jitter(0) (%p): must be JitterFull, JitterEqual or JitterNone"},
		"jitter unknown":         {backoffSpec(policy.BackoffSpec{Jitter: new(policy.Jitter(4))}), "retry.backoff.jitter: Jitter(4) (%p): must be JitterFull, JitterEqual or JitterNone"},
		"delay beside a func": {backoffSpec(policy.BackoffSpec{Delay: new(time.Second), Func: func(int, error) time.Duration { return 0 }}),
			"retry.backoff.delay: set (%p): has no use beside a func"},

		"rate zero":            {breakerSpec(policy.CircuitBreakerSpec{FailureRate: new(0)}), "circuitBreaker.failureRate: 0 (%p): must be a percentage from 1 to 100"},
		"rate over 100":        {breakerSpec(policy.CircuitBreakerSpec{FailureRate: new(101)}), "circuitBreaker.failureRate: 101 (%p): must be a percentage from 1 to 100"},
		"minimumCalls zero":    {breakerSpec(policy.CircuitBreakerSpec{MinimumCalls: new(0)}), "circuitBreaker.minimumCalls: 0 (%p): must be at least 1"},
		"window of no calls":   {breakerSpec(policy.CircuitBreakerSpec{Window: policy.CountWindow(0)}), "circuitBreaker.window: the last 0 calls (%p): must hold from 1 to 1000000 calls"},
		"window of -1 calls":   {breakerSpec(policy.CircuitBreakerSpec{Window: policy.CountWindow(-1)}), "circuitBreaker.window: the last -1 calls (%p): must hold from 1 to 1000000 calls"},
		"window too long":      {breakerSpec(policy.CircuitBreakerSpec{Window: policy.CountWindow(1_000_001)}), "circuitBreaker.window: the last 1000001 calls (%p): must hold from 1 to 1000000 calls"},
		"window backwards":     {breakerSpec(policy.CircuitBreakerSpec{Window: policy.TimeWindow(-time.Second)}), "circuitBreaker.window: the last -1s (%p): must be at least 10ns long"},
		"window too short":     {breakerSpec(policy.CircuitBreakerSpec{Window: policy.TimeWindow(9)}), "circuitBreaker.window: the last 9ns (%p): must be at least 10ns long"},
		"window of both kinds": {breakerSpec(policy.CircuitBreakerSpec{Window: &policy.Window{Calls: 50, Duration: time.Second}}), "circuitBreaker.window: the last 50 calls and the last 1s (%p): must be a CountWindow or a TimeWindow, not both"},
		"window under minimumCalls": {breakerSpec(policy.CircuitBreakerSpec{Window: policy.CountWindow(9)}),
			"circuitBreaker.window: the last 9 calls (%p): must hold at least minimumCalls, 10 (built-in default)"},
		"minimumCalls over window": {breakerSpec(policy.CircuitBreakerSpec{MinimumCalls: new(21)}),
			"circuitBreaker.window: the last 20 calls (built-in default): must hold at least minimumCalls, 21 (%p)"},
		"openDuration zero":    {breakerSpec(policy.CircuitBreakerSpec{OpenDuration: new(time.Duration(0))}), "circuitBreaker.openDuration: 0s (%p): must be positive"},
		"no probes":            {breakerSpec(policy.CircuitBreakerSpec{HalfOpenMaxCalls: new(0)}), "circuitBreaker.halfOpenMaxCalls: 0 (%p): must be at least 1"},
		"halfOpenMaxWait zero": {breakerSpec(policy.CircuitBreakerSpec{HalfOpenMaxWait: new(time.Duration(0))}), "circuitBreaker.halfOpenMaxWait: 0s (%p): must be positive"},
		"blank breaker name":   {breakerSpec(policy.CircuitBreakerSpec{Name: new(" ")}), `circuitBreaker.name: " " (%p): must not be blank`},

		"maxConcurrent zero":         {bulkheadSpec(policy.BulkheadSpec{MaxConcurrent: new(0)}), "bulkhead.maxConcurrent: 0 (%p): must be at least 1"},
		"maxQueue negative":          {bulkheadSpec(policy.BulkheadSpec{MaxQueue: new(-1)}), "bulkhead.maxQueue: -1 (%p): must be at least 0"},
		"queueTimeout zero":          {bulkheadSpec(policy.BulkheadSpec{MaxQueue: new(1), QueueTimeout: new(time.Duration(0))}), "bulkhead.queueTimeout: 0s (%p): must be positive"},
		"queueTimeout and no line":   {bulkheadSpec(policy.BulkheadSpec{QueueTimeout: new(time.Second)}), "bulkhead.queueTimeout: 1s (%p): has no use while maxQueue is 0"},
		"bulkhead name of two lines": {bulkheadSpec(policy.BulkheadSpec{Name: new("a\nb")}), `bulkhead.name: "a\nb" (%p): must hold nothing that can't be printed, such as line breaks`},
		"blank bulkhead name":        {bulkheadSpec(policy.BulkheadSpec{Name: new("")}), `bulkhead.name: "" (%p): must not be blank`},

		"limit missing":      {rateLimit(func(r *policy.RateLimitSpec) { r.Limit = nil }), "rateLimit.limit: missing (%p): is required"},
		"interval missing":   {rateLimit(func(r *policy.RateLimitSpec) { r.Interval = nil }), "rateLimit.interval: missing (%p): is required"},
		"limit zero":         {rateLimit(func(r *policy.RateLimitSpec) { r.Limit = new(0) }), "rateLimit.limit: 0 (%p): must be at least 1"},
		"interval zero":      {rateLimit(func(r *policy.RateLimitSpec) { r.Interval = new(time.Duration(0)) }), "rateLimit.interval: 0s (%p): must be positive"},
		"interval of ages":   {rateLimit(func(r *policy.RateLimitSpec) { r.Interval = new(forever/4 + 1) }), "rateLimit.interval: 640511h56m49.213693952s (%p): is more than 70 years"},
		"burst zero":         {rateLimit(func(r *policy.RateLimitSpec) { r.Burst = new(0) }), "rateLimit.burst: 0 (%p): must be at least 1"},
		"maxWait negative":   {rateLimit(func(r *policy.RateLimitSpec) { r.MaxWait = new(-time.Second) }), "rateLimit.maxWait: -1s (%p): must be at least 0s"},
		"over one a nano":    {rateLimit(func(r *policy.RateLimitSpec) { r.Limit, r.Interval = new(11), new(time.Duration(10)) }), "rateLimit.limit: 11 (%p): is more than one call per nanosecond of interval, 10ns (%p)"},
		"burst for ages":     {rateLimit(func(r *policy.RateLimitSpec) { r.Burst = new(math.MaxInt) }), "rateLimit.burst: 9223372036854775807 (%p): takes more than 70 years to refill"},
		"blank limiter name": {rateLimit(func(r *policy.RateLimitSpec) { r.Name = new("\t") }), `rateLimit.name: "\t" (%p): must not be blank`},

		"fallback without a func": {policy.Spec{Fallback: &policy.FallbackSpec{}}, "fallback.func: missing (%p): is required"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{"carrier": row.spec}})
			require.Error(t, err)
			assert.Equal(t, "policy.NewRegistry:\n"+strings.ReplaceAll(row.want, "%p", `preset "carrier"`), err.Error())

			_, err = newRegistry(t, policy.Config{}).New("job", row.spec)
			require.Error(t, err)
			assert.Equal(t, strings.ReplaceAll(row.want, "%p", `policy "job"`), err.Error())
		})
	}
}

func TestLowestAndHighestAllowedValuesPass(t *testing.T) {
	for name, spec := range map[string]policy.Spec{
		"least": {
			Timeout: &policy.TimeoutSpec{Duration: new(time.Duration(1)), MaxAbandoned: new(1)},
			Retry: &policy.RetrySpec{Attempts: new(1), Backoff: &policy.BackoffSpec{
				Delay: new(time.Duration(0)), Factor: new(1.0), MaxDelay: new(time.Duration(1)),
			}},
			CircuitBreaker: &policy.CircuitBreakerSpec{
				FailureRate: new(1), MinimumCalls: new(1), Window: policy.CountWindow(1), OpenDuration: new(time.Duration(1)),
				HalfOpenMaxCalls: new(1), HalfOpenMaxWait: new(time.Duration(1)),
			},
			Bulkhead:  &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(0)},
			RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Duration(1)), Burst: new(1), MaxWait: new(time.Duration(0))},
		},
		"total alone":     timeout(policy.TimeoutSpec{Total: new(time.Second)}),
		"unlimited":       {Retry: &policy.RetrySpec{Attempts: new(policy.Unlimited)}},
		"ten nanoseconds": breakerSpec(policy.CircuitBreakerSpec{Window: policy.TimeWindow(10), FailureRate: new(100)}),
		"a million calls": breakerSpec(policy.CircuitBreakerSpec{Window: policy.CountWindow(1_000_000), MinimumCalls: new(1_000_000)}),
		"time windows hold any number": breakerSpec(policy.CircuitBreakerSpec{
			Window: policy.TimeWindow(time.Second), MinimumCalls: new(1_000_000_000),
		}),
		"an interval of ages":   {RateLimit: limitSpec(10, forever/4)},
		"one call a nanosecond": {RateLimit: limitSpec(10, 10)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{"carrier": spec}})
			assert.NoError(t, err)
		})
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	_, err := policy.NewRegistry(policy.Config{
		Defaults: policy.Spec{Retry: &policy.RetrySpec{Attempts: new(-7)}},
		Presets: map[string]policy.Spec{
			"": {Retry: &policy.RetrySpec{}},
			"carrier": {
				Retry:   &policy.RetrySpec{Backoff: &policy.BackoffSpec{Factor: new(0.0)}},
				Timeout: &policy.TimeoutSpec{Mode: new(policy.TimeoutMode(9))},
			},
			"export": {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(0), MaxQueue: new(-1)}},
			"idle":   {},
			"off":    {Timeout: &policy.TimeoutSpec{Enabled: new(false)}},
		},
	})
	require.Error(t, err)
	assert.Equal(t, strings.Join([]string{
		"policy.NewRegistry:",
		"retry.attempts: -7 (Config.Defaults): must be at least 1", // once, though two presets take it
		`preset "": its name must not be blank`,
		`timeout.mode: TimeoutMode(9) (preset "carrier"): must be Cooperative or Enforced`,
		`retry.backoff.factor: 0 (preset "carrier"): must be at least 1, and finite`,
		`timeout.duration: missing (preset "carrier"): the stage is on and needs a duration or a total`,
		`bulkhead.maxConcurrent: 0 (preset "export"): must be at least 1`,
		`bulkhead.maxQueue: -1 (preset "export"): must be at least 0`,
		`preset "idle": turns no stage on: set a timeout or another stage (Config.Defaults turn none on)`,
		`preset "off": turns no stage on: set a timeout or another stage (Config.Defaults turn none on)`,
	}, "\n"), err.Error())
}

func TestMessagesNameTheSourceTheValueCameFrom(t *testing.T) {
	registry := newRegistry(t, policy.Config{
		Defaults: policy.Spec{Bulkhead: &policy.BulkheadSpec{MaxQueue: new(2)}},
		Presets:  map[string]policy.Spec{"carrier": {CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(15)}}},
	})
	_, err := registry.Compose(policy.Composition{
		Name: "Query.quotes", Origin: "Query.quotes", Preset: "carrier",
		Layers: []policy.Layer{
			{Origin: "quotes.graphqls:3", Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{Window: policy.CountWindow(12)}}},
			{Origin: "quotes.graphqls:1", Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(-time.Second)}}},
		},
	})
	require.Error(t, err)
	assert.Equal(t, strings.Join([]string{
		"Query.quotes: timeout.duration: -1s (quotes.graphqls:1): must be positive",
		`Query.quotes: circuitBreaker.window: the last 12 calls (quotes.graphqls:3): must hold at least minimumCalls, 15 (preset "carrier")`,
	}, "\n"), err.Error())
}

func TestNamesThatWouldBreakTablesAndLogsAreMistakes(t *testing.T) {
	timeout := policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}
	const unprintable = "must hold nothing that can't be printed, such as line breaks"
	for name, want := range map[string]string{
		"":                 "must not be blank",
		" ":                "must not be blank",
		"a\nb":             unprintable,
		"a\tb":             unprintable,
		"\x1b[31ma":        unprintable,
		"a\u202eb":         unprintable, // turns the text around
		"a\xffb":           unprintable,
		"carrier v2 (Ö/路)": "",
	} {
		_, err := policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{name: timeout}})
		_, newErr := newRegistry(t, policy.Config{}).New(name, timeout)
		if want == "" {
			require.NoError(t, err)
			require.NoError(t, newErr)
			continue
		}
		assert.EqualError(t, err, fmt.Sprintf("policy.NewRegistry:\npreset %q: its name %s", name, want))
		assert.EqualError(t, newErr, fmt.Sprintf("policy.Registry.New: policy %q: its name %s", name, want))
	}
}
