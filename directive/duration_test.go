package directive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/directive"
)

func TestParseDurationReadsGoDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1.5s":  1500 * time.Millisecond,
		"200ms": 200 * time.Millisecond,
		"1m30s": 90 * time.Second,
		".5s":   500 * time.Millisecond,
		"+1s":   time.Second,
		"1µs":   time.Microsecond,
		"1ns":   1,
	} {
		t.Run(text, func(t *testing.T) {
			duration, err := directive.ParseDuration(text)

			require.NoError(t, err)
			assert.Equal(t, want, duration)
		})
	}
}

func TestParseDurationSaysWhatIsWrong(t *testing.T) {
	for text, problem := range map[string]string{
		"":        "empty",
		"0":       "zero",
		"0s":      "zero",
		"-1s":     "negative",
		"5":       "the unit is missing",
		"5.":      "the unit is missing",
		"-5":      "the unit is missing",
		"10n":     "not a duration",
		"s":       "not a duration",
		".":       "not a duration",
		"off":     "not a duration",
		"default": "not a duration",
		" 1s":     "not a duration",
		"1s\x00":  "not a duration",
	} {
		t.Run(text, func(t *testing.T) {
			duration, err := directive.ParseDuration(text)

			assert.Zero(t, duration)
			require.ErrorContains(t, err, ": "+problem+": must be a positive duration")
		})
	}
}
