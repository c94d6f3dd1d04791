package gqlerrors

import (
	"encoding/json"
	"math"
	"reflect"
	"time"
)

// number reads a number of any of Go's types, or as JSON has it. Anything else: false.
func number(value any) (float64, bool) {
	if text, ok := value.(json.Number); ok {
		parsed, err := text.Float64()
		return parsed, err == nil
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), !math.IsNaN(v.Float())
	}
	return 0, false
}

// status reads an HTTP status. What cannot be one: 0.
func status(value any) int {
	n, ok := number(value)
	if !ok || n < 100 || n > 599 || n != math.Trunc(n) {
		return 0
	}
	return int(n)
}

// seconds reads a time in seconds, of at most 68 years. What cannot be one, or is in the past:
// 0.
func seconds(value any) time.Duration {
	n, ok := number(value)
	if !ok || n <= 0 {
		return 0
	}
	return time.Duration(min(n, math.MaxInt32) * float64(time.Second))
}
