package directive

import "time"

// parseDuration reads a positive duration in Go's notation: numbers with units, such as "1.5s",
// "200ms" or "1m30s". Of any other text it says what the problem is.
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
