package policy_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

var (
	errMoved    = errors.New("the parcel has moved on")
	errNoTariff = errors.New("no tariff")
)

func flatRate(context.Context, error) (any, error) { return 4.99, nil }

var carrier = policy.Spec{
	Timeout: &policy.TimeoutSpec{
		Duration:     new(2 * time.Second),  // of each attempt; no default
		Total:        new(10 * time.Second), // of all attempts and waits; no default, and one of the two is needed
		Mode:         new(policy.Enforced),  // or Cooperative, the default for Execute and root fields of mutations
		MaxAbandoned: new(1000),             // abandoned attempts that may be running
	},
	Retry: &policy.RetrySpec{
		Attempts: new(3), // the first included; policy.Unlimited: until the context ends
		Backoff: &policy.BackoffSpec{
			Delay:    new(200 * time.Millisecond), // after the first attempt
			Factor:   new(2.0),                    // by which it grows after each
			MaxDelay: new(30 * time.Second),       // of each wait; a longer Retry-After ends the retrying
			Jitter:   new(policy.JitterFull),      // or JitterEqual, JitterNone
		},
		RetryIf: func(err error, attempt int) bool { // default: every failure
			return !errors.Is(err, errMoved)
		},
	},
	CircuitBreaker: &policy.CircuitBreakerSpec{
		Name:             new("carrier-api"),     // default: the preset's name, or the field's
		FailureRate:      new(50),                // percent of the window
		MinimumCalls:     new(10),                // in the window, before the rate counts
		Window:           policy.CountWindow(20), // or policy.TimeWindow(time.Minute)
		OpenDuration:     new(30 * time.Second),  // until probes pass
		HalfOpenMaxCalls: new(1),                 // probes at once, and how many must succeed
		HalfOpenMaxWait:  new(30 * time.Second),  // of a probe; default: OpenDuration
		RecordIf: func(err error) bool { // default: every failure
			return !errors.Is(err, errNoTariff)
		},
	},
	Bulkhead: &policy.BulkheadSpec{
		Name:          new("carrier-api"), // as a breaker's
		MaxConcurrent: new(10),            // attempts that may run at once
		MaxQueue:      new(50),            // attempts that wait; default: 0
		QueueTimeout:  new(time.Second),   // default: none
		HoldAbandoned: new(true),          // an abandoned attempt keeps its slot until it ends; default: false
	},
	RateLimit: &policy.RateLimitSpec{
		Name:     new("carrier-api"),          // as a breaker's
		Limit:    new(100),                    // calls per Interval; required
		Interval: new(time.Second),            // required
		Burst:    new(20),                     // calls back to back; default: Limit
		MaxWait:  new(250 * time.Millisecond), // for a turn; default: 0, reject at once
	},
	Fallback: &policy.FallbackSpec{
		Func: flatRate, // func(context.Context, error) (any, error); required
		FallbackIf: func(err error) bool { // default: every failure
			return errors.Is(err, policy.ErrCircuitOpen)
		},
	},
}

var linear = policy.BackoffSpec{
	Func: func(attempt int, err error) time.Duration { return time.Duration(attempt) * time.Second },
}

func readRegistry(file string) (*policy.Registry, error) {
	content, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	config, err := policy.DecodeConfig(content)
	if err != nil {
		return nil, err
	}
	config.IsClientError = func(err error) bool { // what only Go can say
		return errors.Is(err, errNoTariff)
	}
	return policy.NewRegistry(config)
}

// page returns the page about policies, and its blocks of a language.
func page(t *testing.T, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/policies.md")
	require.NoError(t, err)
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, match[1])
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// eachSetting calls visit with every setting of a spec, by path.
func eachSetting(spec reflect.Value, path string, visit func(path string, setting reflect.Value)) {
	for name, value := range spec.Fields() {
		at := strings.TrimPrefix(path+"."+name.Name, ".")
		if value.Kind() == reflect.Pointer && !value.IsNil() && strings.HasSuffix(value.Type().String(), "Spec") {
			eachSetting(value.Elem(), at, visit)
			continue
		}
		visit(at, value)
	}
}

func TestThePageAboutPoliciesHasEverySettingInGo(t *testing.T) {
	source, err := os.ReadFile("everysetting_test.go")
	require.NoError(t, err)
	for _, block := range page(t, "go") {
		assert.Contains(t, string(source), block, "the page's Go is not what is compiled here")
	}
	eachSetting(reflect.ValueOf(&carrier).Elem(), "", func(path string, setting reflect.Value) {
		if !strings.HasSuffix(path, ".Enabled") && path != "Retry.Backoff.Func" { // which stands for itself
			assert.False(t, setting.IsNil(), path)
		}
	})
	_, err = policy.NewRegistry(policy.Config{Presets: map[string]policy.Spec{
		"carrier": carrier, "linear": {Retry: &policy.RetrySpec{Backoff: &linear}},
	}})
	assert.NoError(t, err)
}

func TestThePageAboutPoliciesHasEverySettingInJSON(t *testing.T) {
	file := t.TempDir() + "/policies.json"
	require.NoError(t, os.WriteFile(file, []byte(page(t, "json")[0]), 0o600))
	_, err := readRegistry(file)
	require.NoError(t, err)

	config, err := policy.DecodeConfig(strings.NewReader(page(t, "json")[0]))
	require.NoError(t, err)
	got, want := map[string]any{}, map[string]any{}
	decoded := config.Presets["carrier"]
	collect := func(into map[string]any) func(string, reflect.Value) {
		return func(path string, setting reflect.Value) {
			if setting.Kind() == reflect.Pointer && !setting.IsNil() && !strings.HasPrefix(path, "Fallback") {
				into[path] = setting.Elem().Interface()
			}
		}
	}
	eachSetting(reflect.ValueOf(&decoded).Elem(), "", collect(got))
	eachSetting(reflect.ValueOf(&carrier).Elem(), "", collect(want))
	assert.Equal(t, want, got)
}
