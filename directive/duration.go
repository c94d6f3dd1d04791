package directive

import (
	"fmt"
	"time"
)

// ParseDuration reads a positive duration in Go's notation: numbers with units, such as "1.5s",
// "200ms" or "1m30s". Zero, a negative duration, a number without a unit, blanks and empty text
// are errors that quote the text and say what is expected. It does not know "off" and
// "default", which only a timeout may be.
func ParseDuration(text string) (time.Duration, error) {
	duration, problem := parseDuration(text)
	if problem != "" {
		return 0, fmt.Errorf(`%q: %s: must be a positive duration such as "1.5s" or "200ms"`, text, problem)
	}
	return duration, nil
}

func parseDuration(text string) (duration time.Duration, problem string) {
	if text == "" {
		return 0, "empty"
	}
	duration, err := time.ParseDuration(text)
	switch {
	case err != nil && lacksUnit(text):
		return 0, "the unit is missing"
	case err != nil:
		return 0, "not a duration"
	case duration < 0:
		return 0, "negative"
	case duration == 0:
		return 0, "zero"
	}
	return duration, ""
}

// lacksUnit reports whether a unit at the end is all that text needs to be a duration.
func lacksUnit(text string) bool {
	last := text[len(text)-1]
	_, err := time.ParseDuration(text + "s")
	return err == nil && (last == '.' || '0' <= last && last <= '9')
}
