package policy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func decode(text string) (Config, error) { return DecodeConfig(strings.NewReader(text)) }

// mistakes decodes what must not decode, and returns the lines of the error but the first.
func mistakes(t *testing.T, text string) []string {
	t.Helper()
	config, err := decode(text)
	require.Error(t, err)
	assert.Equal(t, Config{}, config)
	head, lines, several := strings.Cut(err.Error(), "\n")
	require.True(t, several, "%v", err)
	assert.Equal(t, "policy.DecodeConfig:", head)
	return strings.Split(lines, "\n")
}

func TestAConfigComesFromJSON(t *testing.T) {
	config, err := decode(`
	{
		"defaults": {
			"timeout": {"duration": "5s"},
			"retry": {"attempts": 3, "backoff": {"delay": "200ms", "factor": 1.5, "maxDelay": "2s", "jitter": "JitterEqual"}}
		},
		"presets": {
			"carrier": {
				"timeout": {"duration": "1.5s", "total": "1m30s", "mode": "\u0045nforced", "maxAbandoned": 7},
				"retry": {"attempts": "unlimited"},
				"circuitBreaker": {"enabled": true, "name": "shared", "failureRate": 40, "window": {"time": "10s"}},
				"bulkhead": {"maxQueue": 0, "holdAbandoned": false}
			},
			"export": {"circuitBreaker": {"window": {"count": 30}}, "timeout": {"mode": "Cooperative"}, "fallback": {"enabled": false}}
		}
	} `)
	require.NoError(t, err)
	assert.Equal(t, Config{
		Defaults: Spec{
			Timeout: &TimeoutSpec{Duration: new(5 * time.Second)},
			Retry: &RetrySpec{Attempts: new(3), Backoff: &BackoffSpec{
				Delay: new(200 * time.Millisecond), Factor: new(1.5), MaxDelay: new(2 * time.Second), Jitter: new(JitterEqual),
			}},
		},
		Presets: map[string]Spec{
			"carrier": {
				Timeout: &TimeoutSpec{
					Duration: new(1500 * time.Millisecond), Total: new(90 * time.Second), Mode: new(Enforced), MaxAbandoned: new(7),
				},
				Retry:          &RetrySpec{Attempts: new(Unlimited)},
				CircuitBreaker: &CircuitBreakerSpec{Enabled: new(true), Name: new("shared"), FailureRate: new(40), Window: TimeWindow(10 * time.Second)},
				Bulkhead:       &BulkheadSpec{MaxQueue: new(0), HoldAbandoned: new(false)},
			},
			"export": {
				CircuitBreaker: &CircuitBreakerSpec{Window: CountWindow(30)},
				Timeout:        &TimeoutSpec{Mode: new(Cooperative)},
				Fallback:       &FallbackSpec{Enabled: new(false)},
			},
		},
	}, config)
}

func TestNullInherits(t *testing.T) {
	config, err := decode(`{"defaults": null, "isClientError": null, "presets": {"carrier": null, "export": {
		"timeout": null, "retry": {"attempts": null, "retryIf": null, "backoff": null},
		"circuitBreaker": {"window": null, "openDuration": null, "name": null}}}}`)
	require.NoError(t, err)
	assert.Equal(t, Config{Presets: map[string]Spec{
		"carrier": {},
		"export":  {Retry: &RetrySpec{}, CircuitBreaker: &CircuitBreakerSpec{}},
	}}, config)

	_, err = NewRegistry(config)
	assert.ErrorContains(t, err, `preset "carrier": turns no stage on: set a timeout or another stage (Config.Defaults turn none on)`, "a preset of nothing does not get lost")

	config, err = decode(`{"presets": null}`)
	require.NoError(t, err)
	assert.Equal(t, Config{}, config)
}

// sample is a value for each type of setting, as JSON and as Go has it.
func sample(t *testing.T, of reflect.Type) (text string, value any) {
	t.Helper()
	switch of {
	case reflect.TypeFor[*bool]():
		return `true`, new(true)
	case reflect.TypeFor[*int]():
		return `7`, new(7)
	case reflect.TypeFor[*float64]():
		return `1.25`, new(1.25)
	case reflect.TypeFor[*string]():
		return `"shared"`, new("shared")
	case reflect.TypeFor[*time.Duration]():
		return `"1m1.5s"`, new(61500 * time.Millisecond)
	case reflect.TypeFor[*TimeoutMode]():
		return `"Enforced"`, new(Enforced)
	case reflect.TypeFor[*Jitter]():
		return `"JitterNone"`, new(JitterNone)
	case reflect.TypeFor[*Window]():
		return `{"time": "1m"}`, TimeWindow(time.Minute)
	default:
		require.Equal(t, reflect.Func, of.Kind(), "JSON has no form for a %v", of)
		return `"a func"`, nil
	}
}

// enclosed puts a value where its path says.
func enclosed(path, value string) string {
	names := strings.Split(path, ".")
	for i := len(names) - 1; i >= 0; i-- {
		value = fmt.Sprintf("{%q: %s}", names[i], value)
	}
	return value
}

// Every setting must be within reach, and be set alone.
func TestEverySettingCanBeGivenInJSON(t *testing.T) {
	for _, l := range leaves() {
		t.Run(l.path, func(t *testing.T) {
			want, _ := l.set()
			setting := l.get(want)
			text, value := sample(t, setting.Type())
			for _, at := range []string{"defaults", "presets.carrier"} {
				path := at + "." + l.path
				if value == nil {
					assert.Equal(t, []string{path + `: "a func": must be set in Go, for JSON has no funcs`}, mistakes(t, enclosed(path, text)))
					continue
				}
				setting.Elem().Set(reflect.ValueOf(value).Elem())
				config, err := decode(enclosed(path, text))
				require.NoError(t, err)
				if at == "defaults" {
					assert.Equal(t, Config{Defaults: want}, config)
				} else {
					assert.Equal(t, Config{Presets: map[string]Spec{"carrier": want}}, config)
				}

				lines := mistakes(t, enclosed(path, `[ 1 ]`))
				require.Len(t, lines, 1)
				assert.Regexp(t, `^`+path+`: \[1\]: must be \S`, lines[0])
			}
		})
	}
}

func TestAValueOfTheWrongKindIsAMistake(t *testing.T) {
	const (
		duration = `must be a duration in quotes and with a unit, such as "1.5s" or "200ms"`
		attempts = `must be a whole number from 1, or "unlimited"`
		window   = `must be like {"count": 20} or {"time": "10s"}`
	)
	for _, row := range []struct{ path, value, rule string }{
		{"timeout.duration", `5`, duration},
		{"timeout.duration", `"5"`, duration},
		{"timeout.duration", `"0"`, duration},
		{"timeout.duration", `"-0"`, duration},
		{"timeout.duration", `""`, duration},
		{"timeout.duration", `"soon"`, duration},
		{"timeout.duration", `"9300000000s"`, "must be within 292 years"},
		{"timeout.duration", `"9999999h1.5s"`, "must be within 292 years"},
		{"timeout.duration", `"9999999x"`, duration},
		{"timeout.duration", `true`, duration},
		{"timeout.mode", `"enforced"`, `must be "Cooperative" or "Enforced"`},
		{"timeout.mode", `2`, `must be "Cooperative" or "Enforced"`},
		{"timeout.mode", `"TimeoutMode(3)"`, `must be "Cooperative" or "Enforced"`},
		{"retry.backoff.jitter", `"full"`, `must be "JitterFull" or "JitterEqual" or "JitterNone"`},
		{"retry.backoff.factor", `"2"`, "must be a number"},
		{"retry.backoff.factor", `1e999`, "must fit 64 bits"},
		{"retry.attempts", `-1`, attempts},
		{"retry.attempts", `"Unlimited"`, attempts},
		{"retry.attempts", `2.5`, "must be a whole number"},
		{"retry.attempts", `99999999999999999999`, "must fit 64 bits"},
		{"circuitBreaker.enabled", `"yes"`, "must be true or false"},
		{"circuitBreaker.name", `7`, "must be text in quotes"},
		{"circuitBreaker.window", `20`, "must be an object in braces"},
		{"circuitBreaker.window", `{}`, window},
		{"circuitBreaker.window", `{"count":20,"time":"10s"}`, window},
		{"circuitBreaker.window", `{"time":"0s"}`, window},
		{"circuitBreaker.window", `{"count":null}`, window},
		{"retry", `true`, "must be an object in braces"},
		{"retry.backoff", `"fast"`, "must be an object in braces"},
	} {
		path := "presets.carrier." + row.path
		assert.Equal(t, []string{path + ": " + row.value + ": " + row.rule}, mistakes(t, enclosed(path, row.value)))
	}
	assert.Equal(t, []string{"presets: []: must be an object in braces"}, mistakes(t, `{"presets": []}`))
	assert.Equal(t, []string{"presets.carrier: 1: must be an object in braces"}, mistakes(t, `{"presets": {"carrier": 1}}`))
	assert.Equal(t, []string{"config: []: must be an object in braces"}, mistakes(t, ` [ ] `))
	assert.Equal(t, []string{"config: null: must be an object in braces"}, mistakes(t, `null`))
	assert.Equal(t, []string{`isClientError: "x": must be set in Go, for JSON has no funcs`}, mistakes(t, `{"isClientError": "x"}`))
	assert.Equal(t, []string{`presets.a.circuitBreaker.window.count: "1": must be a whole number`},
		mistakes(t, enclosed("presets.a.circuitBreaker.window.count", `"1"`)))
}

func TestAllMistakesOfAConfigAreToldInOrder(t *testing.T) {
	assert.Equal(t, []string{
		`default: unknown: did you mean "defaults"?`,
		`presets.carrier.retry.atempts: unknown: did you mean "attempts"?`,
		`presets.carrier.retry.backoff.delay: 200: must be a duration in quotes and with a unit, such as "1.5s" or "200ms"`,
		`presets.carrier.retry.backoff.delay: "1s": is given a second time`,
		`presets.carrier.retry.again: unknown: known are enabled, attempts, backoff`,
		`presets.carrier.retry: {}: is given a second time`,
		`presets."a.b".circuitBreaker.window.calls: unknown: known are count, time`,
		`presets."".cache: unknown: known are timeout, retry, circuitBreaker, bulkhead, rateLimit, fallback`,
		`presets."a.b": null: is given a second time`,
	}, mistakes(t, `{
		"default": {"timeout": 5},
		"presets": {
			"carrier": {
				"retry": {"atempts": 0, "backoff": {"delay": 200, "delay": "1s"}, "again": 1},
				"retry": {}
			},
			"a.b": {"circuitBreaker": {"window": {"calls": 20}}},
			"": {"cache": {}},
			"a.b": null
		}
	}`))
}

func TestALongValueIsShownInPart(t *testing.T) {
	lines := mistakes(t, enclosed("presets.carrier.retry", `[ "`+strings.Repeat("ä", 100)+`" ]`))
	assert.Equal(t, []string{`presets.carrier.retry: ["` + strings.Repeat("ä", 58) + `…: must be an object in braces`}, lines)
}

func TestWhatIsNotJSONIsToldByPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "line 1, column 1: unexpected end of JSON input",
		"{\n  \"presets\": }":           "line 2, column 14: invalid character '}' looking for beginning of value",
		"{}\n{}":                        "line 2, column 1: invalid character '{' after top-level value",
		"{} x":                          "line 1, column 4: invalid character 'x' after top-level value",
		"{\"defaults\": {}":             "line 1, column 15: unexpected end of JSON input",
		"{\"a\n\": 1}":                  "line 1, column 4: invalid character '\\n' in string literal",
		strings.Repeat("[", 20000):      "line 1, column 10001: invalid character '[' exceeded max depth",
		"{\"presets\": {\"a\": {},}}\n": "line 1, column 22: invalid character '}' looking for beginning of object key string",
	} {
		_, err := decode(text)
		assert.EqualError(t, err, "policy.DecodeConfig: "+want)
	}
}

func TestAByteOrderMarkIsNoMistake(t *testing.T) {
	config, err := decode("\uFEFF" + `{"presets": {}}`)
	require.NoError(t, err)
	assert.Equal(t, Config{Presets: map[string]Spec{}}, config)

	_, err = decode("\uFEFF{")
	assert.EqualError(t, err, "policy.DecodeConfig: line 1, column 1: unexpected end of JSON input")
}

func TestAReaderThatFailsIsTheError(t *testing.T) {
	broken := errors.New("disk gone")
	_, err := DecodeConfig(iotest.ErrReader(broken))
	assert.ErrorIs(t, err, broken)
	assert.EqualError(t, err, "policy.DecodeConfig: disk gone")
}
