package policy

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// encode is a config as JSON, setting by setting as Setting.MarshalJSON writes them.
func encode(t *testing.T, config Config) string {
	t.Helper()
	presets := map[string]any{}
	for name, spec := range config.Presets {
		presets[name] = encodeSpec(t, reflect.ValueOf(spec), "")
	}
	text, err := json.Marshal(map[string]any{"defaults": encodeSpec(t, reflect.ValueOf(config.Defaults), ""), "presets": presets})
	require.NoError(t, err)
	return string(text)
}

func encodeSpec(t *testing.T, structure reflect.Value, within string) map[string]any {
	t.Helper()
	object := map[string]any{}
	for field, value := range structure.Fields() {
		name := settingName(field.Name)
		switch {
		case value.IsNil():
		case value.Type() != reflect.TypeFor[*Window]() && value.Type().Elem().Kind() == reflect.Struct:
			object[name] = encodeSpec(t, value.Elem(), within+name+".")
		default:
			text, err := json.Marshal(Setting{Value: settingValue(within+name, value)})
			require.NoError(t, err)
			var setting struct{ Value json.RawMessage }
			require.NoError(t, json.Unmarshal(text, &setting))
			object[name] = setting.Value
		}
	}
	return object
}

func FuzzDecodeConfig(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `{} {}`, `{"defaults": {"timeout": {"duration": "5s", "mode": "Enforced"}}}`,
		`{"presets": {"carrier": {"retry": {"attempts": "unlimited", "backoff": {"delay": "1ns", "factor": 1.0000001, "jitter": "JitterNone"}}}}}`,
		`{"presets": {"carrier": {"retry": {"attempts": 2, "retryIf": 1}}, "carrier": null}}`,
		`{"presets": {"": {"circuitBreaker": {"window": {"count": 20}, "failureRate": 50, "name": "a\u0000"}}}}`,
		`{"presets": {"a": {"rateLimit": {"limit": 9, "interval": "1s", "maxWait": "1m"}, "timeout": {"duration": "1s", "total": "9s"}}}}`,
		`{"presets": {"a": {"bulkhead": {"maxQueue": 3, "queueTimeout": "1s"}, "timeout": {"duration": "1s"}, "retry": {"attempts": 999999999}}}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		config, err := decode(text)
		if err != nil {
			assert.Equal(t, Config{}, config)
			return
		}
		again, err := decode(encode(t, config))
		require.NoError(t, err)
		if config.Presets == nil {
			config.Presets = map[string]Spec{}
		}
		require.Equal(t, config, again)

		registry, err := NewRegistry(config)
		if err != nil {
			return
		}
		for _, p := range registry.Presets() {
			d := p.Describe()
			assert.NotEmpty(t, d.Settings)
			for _, retries := range []bool{false, true} {
				worst := d.WorstCase(retries)
				assert.Equal(t, worst.Unbounded != "", worst.Duration == 0)
				assert.LessOrEqual(t, worst.WithoutRetryAfter, worst.Duration)
			}
		}
	})
}
