package browsertest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

var (
	everybody = dashboard.WithControl(func(*http.Request) bool { return true })
	nobody    = dashboard.WithControl(func(*http.Request) bool { return false })
)

func TestABreakerIsTrippedAndResetByKeyboardAlone(t *testing.T) {
	t.Parallel()
	w := watch(t, map[string]policy.Spec{"carrier": breaking, "warehouse": breaking}, everybody)
	breaker := w.breaker("carrier")
	tab := openPage(t, serve(t, "", w).page())

	tab.tabTo("Trip… carrier")
	tab.press(kb.Enter)
	assert.Regexp(t, `^Trip carrier\?\s+Opens carrier for 1 min: its calls are rejected`, tab.text("dialog[open]"))
	tab.press(kb.Escape)
	tab.waitFor("the dialog to be closed", `!document.querySelector("dialog[open]")`)
	assert.Equal(t, "Trip… carrier", tab.focused(), "it is back where it was")
	assert.Equal(t, policy.StateClosed, breaker.State(), "nothing was confirmed")

	tab.press(kb.Enter)
	assert.Equal(t, "Cancel", tab.focused(), "what does nothing comes first")
	tab.press(kb.Enter)
	tab.waitFor("the dialog to be closed", `!document.querySelector("dialog[open]")`)
	assert.Equal(t, policy.StateClosed, breaker.State(), "nothing was confirmed")

	tab.press(kb.Enter)
	tab.tabTo("Trip")
	tab.press(kb.Enter)
	tab.reads(carrierCard, `✓ Tripped at \d\d:\d\d:\d\d\.`)
	assert.Equal(t, policy.StateOpen, breaker.State())
	tab.reads("#headline", `^carrier: open since \d\d:\d\d:\d\d`)
	assert.Equal(t, policy.StateClosed, w.breaker("warehouse").State())

	tab.tabTo("Reset… carrier")
	tab.press(kb.Enter)
	assert.Regexp(t, `^Reset carrier\?\s+Closes carrier and empties its window`, tab.text("dialog[open]"))
	tab.tabTo("Reset")
	tab.press(kb.Enter)
	tab.reads(carrierCard, `✓ Reset at \d\d:\d\d:\d\d\.`)
	assert.Equal(t, policy.StateClosed, breaker.State())
	tab.reads("#headline", `^All 2 circuit breakers are closed\.`)
	tab.requireNoComplaint()
}

func TestWhoMayNotControlHasNoButtonsAndIsRefused(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]dashboard.Option{"read-only": nil, "not authorised": {nobody}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watch(t, map[string]policy.Spec{"carrier": breaking}, options...)
			tab := openPage(t, serve(t, "", w).page())
			tab.reads(carrierCard, "closed")
			assert.Zero(t, evaluate[int](tab, `document.querySelectorAll("main button").length`))
			before := w.breaker("carrier").Stats()
			for method, status := range map[string]int{"POST": http.StatusForbidden, "GET": http.StatusMethodNotAllowed} {
				assert.Equal(t, status, evaluate[int](tab, ordered(method)), method)
			}
			assert.Equal(t, before, w.breaker("carrier").Stats())
		})
	}
}

func TestARefusalIsToldWhereTheButtonIs(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	w := watch(t, map[string]policy.Spec{"carrier": breaking}, dashboard.WithControl(func(*http.Request) bool { return !revoked.Load() }))
	tab := openPage(t, serve(t, "", w).page())
	tab.tabTo("Trip… carrier")
	revoked.Store(true)
	tab.press(kb.Enter)
	tab.tabTo("Trip")
	tab.press(kb.Enter)
	tab.reads(carrierCard, `✕ Trip was refused: you may not do that`)
	assert.Equal(t, policy.StateClosed, w.breaker("carrier").State())
}

func TestAGETChangesNothingThoughItsSenderMayControl(t *testing.T) {
	t.Parallel()
	w := watch(t, map[string]policy.Spec{"carrier": breaking}, everybody)
	tab := openPage(t, serve(t, "", w).page())
	before := w.breaker("carrier").Stats()
	assert.Equal(t, http.StatusMethodNotAllowed, evaluate[int](tab, ordered("GET")))
	assert.Equal(t, before, w.breaker("carrier").Stats())
	assert.Equal(t, http.StatusNoContent, evaluate[int](tab, ordered("POST")), "the same by POST is an order")
	assert.Equal(t, policy.StateOpen, w.breaker("carrier").State())
}

// ordered sends the order to trip the carrier's breaker, as the page itself would, and comes to the answer's status.
func ordered(method string) string {
	body := ""
	if method != "GET" {
		body = `, headers: { "Content-Type": "application/json" }, body: '{"circuitBreaker": "carrier"}'`
	}
	return fmt.Sprintf(`fetch("trip", { method: %q%s }).then((answer) => answer.status)`, method, body)
}

func TestAPageOfAnotherSiteChangesNothing(t *testing.T) {
	t.Parallel()
	w := watch(t, map[string]policy.Spec{"carrier": breaking}, everybody) // as in a network that is thought to be safe
	var seen requests
	server := serve(t, "", seen.of(w))
	elsewhere := serve(t, "localhost:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>elsewhere</title><form method="post" enctype="text/plain" action="` + server.page() + `trip">` +
			`<input name='{"circuitBreaker": "carrier", "x": "' value='"}'></form>`))
	}))
	address, err := url.Parse("http://" + elsewhere.address)
	require.NoError(t, err)
	tab := openTab(t, "http://localhost:"+address.Port()+"/")
	before := w.breaker("carrier").Stats()

	const body = `'{"circuitBreaker": "carrier"}'`
	for _, request := range []string{
		`{ method: "POST", mode: "no-cors", credentials: "include", headers: { "Content-Type": "text/plain" }, body: ` + body + ` }`,
		`{ method: "POST", mode: "no-cors", credentials: "include", body: new Blob([` + body + `], { type: "application/json" }) }`,
		`{ method: "POST", mode: "cors", credentials: "include", headers: { "Content-Type": "application/json" }, body: ` + body + ` }`,
		`{ mode: "no-cors", credentials: "include" }`,
	} {
		evaluate[string](tab, `fetch(`+quoted(server.page()+"trip")+`, `+request+`).then((answer) => answer.type, (refusal) => String(refusal))`)
	}
	load(tab, chromedp.Evaluate[chromedp.Void]("document.forms[0].submit()"))
	assert.Contains(t, tab.text("body"), "cross-origin")

	assert.Equal(t, before, w.breaker("carrier").Stats())
	assert.ElementsMatch(t, []string{"POST no-cors", "POST no-cors", "OPTIONS cors", "GET no-cors", "POST navigate"}, seen.all())
}

// requests keeps which requests for other than the page a server has got.
type requests struct {
	mu   sync.Mutex
	list []string // guarded by mu
}

func (r *requests) of(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if strings.HasSuffix(request.URL.Path, "/trip") {
			r.mu.Lock()
			r.list = append(r.list, request.Method+" "+request.Header.Get("Sec-Fetch-Mode"))
			r.mu.Unlock()
		}
		next.ServeHTTP(w, request)
	})
}

func (r *requests) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// tabTo goes on with the tabulator until the focus is on the button of that text.
func (tab *tab) tabTo(button string) {
	tab.t.Helper()
	for range 100 {
		if tab.focused() == button {
			return
		}
		tab.press(kb.Tab)
	}
	require.Failf(tab.t, "no button", "%q can't be reached by keyboard", button)
}

// focused returns the text of what has the focus.
func (tab *tab) focused() string {
	tab.t.Helper()
	return evaluate[string](tab, `document.activeElement.textContent.slice(0, 100)`)
}
