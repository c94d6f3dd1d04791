package policy_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func response(status int, retryAfter string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status, " leaked reason"),
		Header: http.Header{"Retry-After": {retryAfter}},
		Body:   io.NopCloser(strings.NewReader("secret body")),
	}
}

func TestCheckResponseFailsFrom400On(t *testing.T) {
	for _, status := range []int{100, 200, 204, 301, 304, 399} {
		assert.NoError(t, policy.CheckResponse(response(status, "5")))
	}
	for status, want := range map[int]string{
		400: "HTTP status 400 Bad Request", 404: "HTTP status 404 Not Found", 429: "HTTP status 429 Too Many Requests",
		500: "HTTP status 500 Internal Server Error", 503: "HTTP status 503 Service Unavailable", 599: "HTTP status 599",
	} {
		r := response(status, "")
		err := policy.CheckResponse(r)
		require.Error(t, err)
		assert.Equal(t, want, err.Error(), "nothing of the body")
		var e *policy.ResponseError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, status, e.StatusCode())
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, "secret body", string(body), "the body is the caller's")
	}
}

func TestCheckResponseReadsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const longest = time.Duration(math.MaxInt64/time.Second) * time.Second
		at := func(d time.Duration) time.Time { return time.Now().Add(d).UTC() }
		for header, want := range map[string]time.Duration{
			"":                                       0,
			"0":                                      0,
			"1":                                      time.Second,
			"120":                                    2 * time.Minute,
			"007":                                    7 * time.Second,
			"-5":                                     0,
			"+5":                                     0,
			"1.5":                                    0,
			"5s":                                     0,
			"0x10":                                   0,
			"1_000":                                  0,
			"soon":                                   0,
			"9223372036":                             9223372036 * time.Second,
			"9223372037":                             longest,
			"18446744073709551615":                   longest,
			"18446744073709551616":                   longest,
			strings.Repeat("9", 10_000):              longest,
			at(time.Minute).Format(http.TimeFormat):  time.Minute,
			at(time.Minute).Format(time.RFC850):      time.Minute,
			at(time.Minute).Format(time.ANSIC):       time.Minute,
			at(-time.Minute).Format(http.TimeFormat): 0,
			"Fri, 31 Dec 9999 23:59:59 GMT":          math.MaxInt64,
			"Mon, 01 Jan 0001 00:00:00 GMT":          0,
			"Fri, 32 Dec 2026 23:59:59 GMT":          0,
		} {
			var e *policy.ResponseError
			require.ErrorAs(t, policy.CheckResponse(response(503, header)), &e)
			assert.Equal(t, want, e.RetryAfter, "Retry-After: %.40s", header)
		}
	})
}

func TestTheRetryAfterOfAResponseIsKeptTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newPolicy(t, policy.Spec{Retry: retrySpec(3, time.Second)})
		fn, calls := script(
			fmt.Errorf("quotes: %w", errors.Join(policy.CheckResponse(response(429, "7")), policy.CheckResponse(response(429, "3")))),
			policy.CheckResponse(response(503, strings.Repeat("9", 30))),
		)
		err := run(t.Context(), p, fn)
		assert.Equal(t, []time.Duration{0, 7 * time.Second}, calls.times(), "and one of ages ends the retrying")
		assert.EqualError(t, err, "HTTP status 503 Service Unavailable")
	})
}
