package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/policy"
)

// The demo takes about 18 seconds, most of them waiting for a carrier that hangs.
const (
	playLimit     = 23 * time.Second
	shutDownLimit = 2 * time.Second
)

const (
	quotesQuery  = `{ shippingQuotes(orderId: "1001") { service price } }`
	orderQuery   = `{ order(id: "1001") { customer quotes { price } } }`
	bookMutation = `mutation { createShipment(orderId: "1001") { trackingCode } }`

	liveQuotes = `{"data": {"shippingQuotes": [{"service": "standard", "price": 4.46}, {"service": "express", "price": 9.82}]}}`
	flatQuotes = `{"data": {"shippingQuotes": [{"service": "flat-rate", "price": 4.99}]},
		"extensions": {"degraded": [{"path": ["shippingQuotes"], "code": "CIRCUIT_OPEN"}]}}`
	booked = `{"data": {"createShipment": {"trackingCode": "PURR000001"}}}`

	timedOut = `{"data": {"shippingQuotes": null}, "errors": [{
		"message": "The operation timed out", "path": ["shippingQuotes"], "locations": [{"line": 1, "column": 3}],
		"extensions": {"code": "TIMEOUT", "httpStatus": 504}}]}`
	notBooked = `{"data": {"createShipment": null}, "errors": [{
		"message": "Service temporarily unavailable", "path": ["createShipment"], "locations": [{"line": 1, "column": 12}],
		"extensions": {"code": "CIRCUIT_OPEN", "httpStatus": 503, "retryAfter": RETRY_AFTER}}]}`
	withoutQuotes = `{"data": {"order": {"customer": "Mia", "quotes": null}}, "errors": [{
		"message": "Service temporarily unavailable", "path": ["order", "quotes"], "locations": [{"line": 1, "column": 32}],
		"extensions": {"code": "CIRCUIT_OPEN", "httpStatus": 503, "retryAfter": RETRY_AFTER}}]}`
)

// playDemo plays an outage of the carrier against a site of its own and writes what a client
// sees. It is an error when that is not what it must be.
func playDemo(ctx context.Context, options options, stdout io.Writer) error {
	site, err := openSite(options, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "What an operator sees meanwhile: %s/resilience/\n", site.url)
	playing, cancel := context.WithTimeout(ctx, playLimit)
	defer cancel()
	stage := &stage{site: site, openDuration: options.openDuration, out: stdout}
	err = stage.playOutage(playing)
	if stage.wrong > 0 {
		err = errors.Join(err, fmt.Errorf("%d steps went wrong", stage.wrong))
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutDownLimit)
	defer cancel()
	return errors.Join(err, site.shutDown(ending))
}

func (s *stage) playOutage(ctx context.Context) error {
	// An attempt takes 1.5 s, and there are up to 200 ms between two. The rest is for machines
	// that have more to do.
	atOnce := within{0, 1400 * time.Millisecond}
	oneAttempt := within{1500 * time.Millisecond, 2900 * time.Millisecond}
	twoAttempts := within{3 * time.Second, 5 * time.Second}

	s.step("The carrier answers, and so does the store.")
	s.ask(ctx, quotesQuery, want{answer: liveQuotes, took: atOnce, calls: carrier.Calls{Seen: 1}})

	s.step("The carrier hangs. Two attempts of 1.5 s fail, and with them their field alone.")
	s.control(ctx, http.MethodPut, "/mode/hang")
	s.ask(ctx, quotesQuery, want{answer: timedOut, took: twoAttempts, calls: carrier.Calls{Seen: 2, Cancelled: 2}})

	s.step("Clients ask again. By then eight of the carrier's nine calls have failed.")
	for range 3 {
		s.ask(ctx, quotesQuery, want{answer: timedOut, took: twoAttempts, calls: carrier.Calls{Seen: 2, Cancelled: 2}})
	}

	s.step("The tenth call is the ninth to fail: the circuit opens, and the flat rate is served in place of a second attempt.")
	s.ask(ctx, quotesQuery, want{answer: flatQuotes, took: oneAttempt, calls: carrier.Calls{Seen: 1, Cancelled: 1}, circuit: policy.StateOpen})

	s.step("A booking has no fallback. It fails at once and says when to come back.")
	retryAfter := s.ask(ctx, bookMutation, want{answer: notBooked, took: atOnce, circuit: policy.StateOpen})
	probe := time.Now().Add(retryAfter)

	s.step("What does not need the carrier is served.")
	s.ask(ctx, orderQuery, want{answer: withoutQuotes, took: atOnce, circuit: policy.StateOpen})

	s.step("The background job leaves the carrier alone too.")
	s.reprice(ctx, 0, policy.ErrCircuitOpen, want{circuit: policy.StateOpen})

	s.step("The carrier is back, but nobody calls it until the open duration is over.")
	s.control(ctx, http.MethodPut, "/mode/ok")
	s.ask(ctx, quotesQuery, want{answer: flatQuotes, took: atOnce, circuit: policy.StateOpen})

	s.step(fmt.Sprintf("After the %v that the booking's answer asked for, one probe closes the circuit.", retryAfter))
	s.wait(ctx, time.Until(probe))
	s.ask(ctx, quotesQuery, want{answer: liveQuotes, took: atOnce, calls: carrier.Calls{Seen: 1}})

	s.step("The booking succeeds. Sent twice, it is still one shipment.")
	for range 2 {
		s.ask(ctx, bookMutation, want{answer: booked, took: atOnce, calls: carrier.Calls{Seen: 1}})
	}

	s.step("The background job reprices the four orders that are still pending.")
	s.reprice(ctx, 4, nil, want{calls: carrier.Calls{Seen: 4}})
	return s.err
}
