package directive

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDurationsAreReadAsGoReadsThem(t *testing.T) {
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
			duration, problem := parseDuration(text)

			assert.Empty(t, problem)
			assert.Equal(t, want, duration)
		})
	}
}

func TestAProblemWithADurationIsNamed(t *testing.T) {
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
			duration, found := parseDuration(text)

			assert.Zero(t, duration)
			assert.Equal(t, problem, found)
		})
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1.5s", "200ms", "0", "-1s", "5", "1m30", "off", "", "9999999h", "1e3s", "+.5µs", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		duration, problem := parseDuration(text)
		if problem != "" {
			if duration != 0 {
				t.Errorf("%q: %q beside %v", text, problem, duration)
			}
			return
		}
		if duration <= 0 {
			t.Errorf("%q: got %v, which is not positive", text, duration)
		}
		if written, err := time.ParseDuration(text); err != nil || written != duration {
			t.Errorf("%q: got %v, Go reads %v (%v)", text, duration, written, err)
		}
		if again, problem := parseDuration(duration.String()); problem != "" || again != duration {
			t.Errorf("%q: %v does not survive being written and read: %v (%s)", text, duration, again, problem)
		}
	})
}
