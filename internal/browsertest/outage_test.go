package browsertest

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const (
	quotesQuery  = `{"query": "{ shippingQuotes(orderId: \"1001\") { service price } }"}`
	bookMutation = `{"query": "mutation { createShipment(orderId: \"1001\") { trackingCode } }"}`
)

const carrierCard = `#breakers [data-name="carrier"]`

func TestThePageTellsOfAnOutageFromItsBeginningToItsEnd(t *testing.T) {
	t.Parallel()
	example := startExample(t, "-open-duration", "4s", "-reprice", "0")
	store, carrier := example.address("store:"), example.address("carrier:")
	tab := openPage(t, store+"/resilience/")
	clock := `\d\d:\d\d:\d\d`

	tab.reads("#headline", `^Circuit breaker carrier is closed\.$`)
	tab.reads("#fallbacks", `No fallback answered in the last minute\.`)
	tab.reads("#events", `No events yet\.`)
	tab.reads("#plan", `Plan and worst cases`)
	send(t, "POST", store+"/query", quotesQuery)
	tab.reads(`#fields [data-field="Query.shippingQuotes"]`, `^Query\.shippingQuotes\s+1\s+0\s+none\s+never`)
	tab.waitFor("the state in words", `document.querySelector('`+carrierCard+`').dataset.state === "closed"`)

	send(t, "PUT", carrier+"/mode/fail", "")
	for range 5 {
		send(t, "POST", store+"/query", quotesQuery)
	}
	send(t, "POST", store+"/query", bookMutation)
	tab.reads("#headline", `^carrier: open since `+clock+`: 9 of 10 calls failed\. Query\.shippingQuotes is answered by its fallback\.$`)
	assert.Equal(t, "open", tab.stateOf("carrier"))
	assert.Regexp(t, `✕ open`, tab.text(carrierCard))
	assert.Regexp(t, `9 of 10 calls failed \(90 %\)`, tab.text(carrierCard))
	assert.Regexp(t, `carrier: \d s so far, next probe in \d s\.`, tab.text("#countdown"))
	tab.reads(`#fields [data-field="Query.shippingQuotes"]`, `Query\.shippingQuotes\s+1\s+1\s+67 % failed: 4 error\s+`+clock)
	tab.reads(`#fields [data-field="Mutation.createShipment"]`, `100 % failed: 1 CIRCUIT_OPEN`)
	tab.reads("#fallbacks", `Query\.shippingQuotes \(carrier\) is answered by its fallback, for CIRCUIT_OPEN, since `+clock+`.*: 1 time`)
	tab.reads("#events", `✕ circuit opened.*closed → open; 9 of 10 calls failed`)
	assert.Regexp(t, `carrier: open since`, evaluate[string](tab, "document.title"))

	tab.reads("#headline", `^carrier: half-open, a probe decides; not closed since `+clock+`: 9 of 10 calls failed\.`)
	assert.Equal(t, "half-open", tab.stateOf("carrier"))
	assert.Regexp(t, `◐ half-open`, tab.text(carrierCard))

	send(t, "PUT", carrier+"/mode/ok", "")
	send(t, "POST", store+"/query", quotesQuery)
	tab.reads("#headline", `^Circuit breaker carrier is closed\. .*carrier recovered at `+clock+` after \d+ s\.$`)
	assert.Equal(t, "closed", tab.stateOf("carrier"))
	assert.Regexp(t, `✓ closed\s+Recovered at `+clock, tab.text(carrierCard))
	tab.reads("#fallbacks", `No fallback answered`)
	tab.reads("#events", `✓ circuit closed`)
	tab.requireNoComplaint()
}

func TestWhoSeesOnlyThePageOfTheDemoCanTellWhatHappened(t *testing.T) {
	t.Parallel()
	newTab(t) // so that the demo need not wait for the browser
	start := time.Now()
	demo := startExample(t, "-demo")
	tab := openPage(t, demo.address("What an operator sees meanwhile:"))
	played := demo.rest()
	end := time.Now()

	t.Log(played)
	tab.reads("#connection", `Not connected since \d\d:\d\d:\d\d: what is below is as of then`)
	said := evaluate[[]string](tab, "said")
	t.Log(said)
	for _, wanted := range []string{
		`^Circuit breaker carrier is closed\.$`,
		`^carrier: open since \d\d:\d\d:\d\d: 9 of 10 calls failed\. Query\.shippingQuotes is answered by its fallback\.$`,
		`carrier recovered at \d\d:\d\d:\d\d after \d+ s\.$`,
	} {
		assert.True(t, slices.ContainsFunc(said, regexp.MustCompile(wanted).MatchString), "the headline has never said %s, but %q", wanted, said)
	}

	// All of it can be told from the last state, too.
	headline := tab.text("#headline")
	assert.Regexp(t, `^Not connected; last known: Circuit breaker carrier is closed\. .*carrier recovered at \d\d:\d\d:\d\d after \d+ s\.$`, headline)
	recovered := evaluate[time.Time](tab, `document.querySelector("#headline time").dateTime`)
	assert.WithinRange(t, recovered, start, end)
	assert.Regexp(t, `9 of 10 calls failed`, evaluate[string](tab, `document.querySelector('`+carrierCard+` details').textContent`))
	opened := evaluate[time.Time](tab, `[...document.querySelectorAll('`+carrierCard+` details time')].at(-1).dateTime`)
	assert.WithinRange(t, opened, start, recovered)
	assert.Regexp(t, `50 % failed: 4 TIMEOUT`, tab.text(`#fields [data-field="Query.shippingQuotes"]`))
	assert.Regexp(t, `^⚠ Query\.shippingQuotes\s+2\s+2\s`, tab.text(`#fields [data-field="Query.shippingQuotes"]`))
	for _, field := range []string{"Mutation.createShipment", "Order.quotes", "Repricer.run"} {
		assert.Regexp(t, `failed: 1 CIRCUIT_OPEN`, tab.text(fmt.Sprintf("#fields [data-field=%q]", field)))
	}
	tab.requireNoComplaint()
}
