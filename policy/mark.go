package policy

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Permanent marks err as not worth another attempt. It still counts as a failure for the
// breaker, and a fallback may answer it. [Execute] returns err itself, without the mark. A
// nil err stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// unmarked is err without the mark of Permanent.
func unmarked(err error) error {
	if marked, ok := err.(*permanentError); ok {
		return marked.error
	}
	return err
}

// AsClientError marks err as the caller's fault, such as an unknown id: it is not retried, no
// breaker counts it, and by default no fallback hides it. A nil err stays nil.
func AsClientError(err error) error {
	if err == nil {
		return nil
	}
	return &clientError{err}
}

type clientError struct{ error }

func (e *clientError) Unwrap() error { return e.error }

// WithRetryAfter says that another attempt makes no sense before d has passed. It is a floor
// under the wait between attempts, and ends the retrying if it exceeds MaxDelay. A nil err
// stays nil; a d that is not positive changes nothing.
func WithRetryAfter(err error, d time.Duration) error {
	if err == nil || d <= 0 {
		return err
	}
	return &retryAfterError{err, d}
}

type retryAfterError struct {
	error
	after time.Duration
}

func (e *retryAfterError) Unwrap() error { return e.error }

// ResponseError is an HTTP response that [CheckResponse] found to be an error.
type ResponseError struct {
	Status     int
	RetryAfter time.Duration // zero: the response named none
}

// Error names the status and nothing of the response's body.
func (e *ResponseError) Error() string {
	text := "HTTP status " + strconv.Itoa(e.Status)
	if name := http.StatusText(e.Status); name != "" {
		text += " " + name
	}
	return text
}

// StatusCode returns the status, by which the error is classified: 4xx other than 408 and 429
// is the caller's fault.
func (e *ResponseError) StatusCode() int { return e.Status }

// CheckResponse returns a [*ResponseError] for a status from 400 on, with the delay that a
// Retry-After header names in seconds or as a date (RFC 9110, section 10.2.3), and nil for
// any other. It neither reads nor closes the body.
func CheckResponse(response *http.Response) error {
	if response.StatusCode < 400 {
		return nil
	}
	return &ResponseError{
		Status:     response.StatusCode,
		RetryAfter: parseRetryAfter(response.Header.Get("Retry-After"), time.Now()),
	}
}

// parseRetryAfter returns zero for a header that names no delay.
func parseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(math.MaxInt64/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}
