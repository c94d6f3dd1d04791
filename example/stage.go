package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/example/pause"
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

// stage is where the demo's client acts: it sends requests, writes what comes back, and compares
// it with what must. After the first error of its own it does nothing more.
type stage struct {
	site         *site
	openDuration time.Duration // of the circuit
	out          io.Writer
	steps        int
	wrong        int   // requests that went another way than they must
	err          error // why the demo could not go on
}

// want is what a request must come to.
type want struct {
	answer  string // JSON, in which anyRetryAfter stands for a number in range
	took    within
	calls   carrier.Calls // that the request caused
	circuit policy.State  // afterwards
}

const anyRetryAfter = "RETRY_AFTER"

type within struct{ atLeast, atMost time.Duration }

// settling is how long the carrier may take to notice that its caller has gone.
const settling = 2 * time.Second

func (s *stage) step(title string) {
	if s.err != nil {
		return
	}
	s.steps++
	fmt.Fprintf(s.out, "\n%d. %s\n", s.steps, title)
}

// ask sends the query and returns the retryAfter of the answer's error, zero if there is none.
func (s *stage) ask(ctx context.Context, query string, want want) (retryAfter time.Duration) {
	s.control(ctx, http.MethodDelete, "/calls")
	if s.err != nil {
		return 0
	}
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		s.err = err
		return 0
	}
	start := time.Now()
	status, text, err := send(ctx, http.MethodPost, s.site.url+"/query", string(body))
	took := time.Since(start)
	if err != nil {
		s.err = err
		return 0
	}
	fmt.Fprintf(s.out, "   %s\n", query)
	fmt.Fprintf(s.out, "   %s\n", text)
	fmt.Fprintf(s.out, "   HTTP %d after %.2f s", status, took.Seconds())

	retryAfter = readRetryAfter(text)
	seconds := strconv.Itoa(int(retryAfter / time.Second))
	wanted := compact(strings.ReplaceAll(want.answer, anyRetryAfter, seconds))
	s.compare(ctx, want,
		mismatch(status == http.StatusOK, "the HTTP status must be 200"),
		mismatch(took >= want.took.atLeast && took <= want.took.atMost,
			fmt.Sprintf("it must take from %v to %v", want.took.atLeast, want.took.atMost)),
		mismatch(reflect.DeepEqual(decoded(text), decoded(wanted)), "the answer must be "+wanted),
		mismatch(!strings.Contains(want.answer, anyRetryAfter) || retryAfter >= time.Second && retryAfter < s.openDuration+time.Second,
			fmt.Sprintf("retryAfter must be from 1 to the %v that the circuit is open, rounded up", s.openDuration)),
	)
	return retryAfter
}

// reprice runs the background job once.
func (s *stage) reprice(ctx context.Context, wantPriced int, wantErr error, want want) {
	s.control(ctx, http.MethodDelete, "/calls")
	if s.err != nil {
		return
	}
	priced, err := s.site.repricer.reprice(ctx)
	outcome := "no error"
	if err != nil {
		outcome = err.Error()
	}
	fmt.Fprintf(s.out, "   orders repriced: %d, %s", priced, outcome)
	s.compare(ctx, want,
		mismatch(priced == wantPriced, fmt.Sprintf("%d orders must be repriced", wantPriced)),
		mismatch(errors.Is(err, wantErr), fmt.Sprintf("the error must be %q", fmt.Sprint(wantErr))),
	)
}

// compare ends a request's line of output, and tells the mismatches.
func (s *stage) compare(ctx context.Context, want want, mismatches ...string) {
	calls := s.countCalls(ctx, want.calls)
	if s.err != nil {
		fmt.Fprintln(s.out)
		return
	}
	breaker, _ := s.site.registry.CircuitBreaker("carrier")
	circuit := breaker.State()
	fmt.Fprintf(s.out, "; calls of the carrier: %d, cancelled: %d; circuit: %v\n", calls.Seen, calls.Cancelled, circuit)
	mismatches = append(mismatches,
		mismatch(calls == want.calls, fmt.Sprintf("calls of the carrier must be %d, cancelled %d", want.calls.Seen, want.calls.Cancelled)),
		mismatch(circuit == want.circuit, fmt.Sprintf("the circuit must be %v", want.circuit)),
	)
	mismatches = slices.DeleteFunc(mismatches, func(must string) bool { return must == "" })
	for _, must := range mismatches {
		fmt.Fprintf(s.out, "   WRONG: %s\n", must)
	}
	if len(mismatches) > 0 {
		s.wrong++
	}
}

func mismatch(right bool, must string) string {
	if right {
		return ""
	}
	return must
}

// readRetryAfter reads an answer as a client would.
func readRetryAfter(text string) time.Duration {
	var response struct{ Errors gqlerror.List }
	if json.Unmarshal([]byte(text), &response) != nil {
		return 0
	}
	info, _ := gqlerrors.Read(response.Errors)
	return info.RetryAfter
}

// decoded makes JSON comparable. What is not JSON compares unequal to everything that is.
func decoded(text string) (value any) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	return value
}

func compact(text string) string {
	var compacted bytes.Buffer
	if err := json.Compact(&compacted, []byte(text)); err != nil {
		return text
	}
	return compacted.String()
}

// countCalls asks the carrier until its count is as wanted, or should have become so.
func (s *stage) countCalls(ctx context.Context, want carrier.Calls) (calls carrier.Calls) {
	for deadline := time.Now().Add(settling); ; {
		_, text, err := send(ctx, http.MethodGet, s.site.carrierURL+"/calls", "")
		if err == nil {
			err = json.Unmarshal([]byte(text), &calls)
		}
		if err != nil {
			s.err = err
			return calls
		}
		if calls == want || time.Now().After(deadline) {
			return calls
		}
		s.wait(ctx, 10*time.Millisecond)
	}
}

// control tells the carrier's stub what to do.
func (s *stage) control(ctx context.Context, method, path string) {
	if s.err != nil {
		return
	}
	status, text, err := send(ctx, method, s.site.carrierURL+path, "")
	if err == nil && status != http.StatusNoContent {
		err = fmt.Errorf("%s %s: %d %s", method, path, status, text)
	}
	s.err = err
}

func (s *stage) wait(ctx context.Context, duration time.Duration) {
	s.err = errors.Join(s.err, pause.For(ctx, duration))
}

func send(ctx context.Context, method, url, body string) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return response.StatusCode, strings.TrimSpace(string(read)), err
}
