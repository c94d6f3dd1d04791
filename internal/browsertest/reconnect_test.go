package browsertest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/policy"
)

// brokenDown is a dashboard with much to tell: that of a server which will be replaced.
func brokenDown(t *testing.T) watched {
	before := watch(t, map[string]policy.Spec{"carrier": breaking, "warehouse": breaking})
	before.call("carrier", "Query.quotes", 4, errDown)
	before.call("warehouse", "Query.stock", 2, nil)
	return before
}

// startedAnew is the one which replaces it, and knows nothing of what was.
func startedAnew(t *testing.T) watched {
	after := watch(t, map[string]policy.Spec{"carrier": breaking, "courier": breaking})
	after.call("carrier", "Query.quotes", 1, nil)
	return after
}

// requireLost waits until the page says that what it shows is of the past.
func requireLost(tab *tab) {
	tab.t.Helper()
	tab.reads("#connection", `Not connected since \d\d:\d\d:\d\d: what is below is as of then`)
	assert.Regexp(tab.t, `^Not connected; last known: carrier: open since`, tab.text("#headline"))
	assert.Regexp(tab.t, `Not connected; carrier: open since`, evaluate[string](tab, "document.title"))
	assert.Equal(tab.t, "open", tab.stateOf("carrier"), "what was known stays there")
}

// requireAnew waits until the page says what the new server knows, and nothing else, without having been loaded anew.
func requireAnew(tab *tab) {
	tab.t.Helper()
	tab.reads("#notes", `The server restarted at \d\d:\d\d:\d\d; what is known begins there\.`)
	assert.Empty(tab.t, tab.text("#connection"))
	assert.Equal(tab.t, "All 2 circuit breakers are closed.", tab.text("#headline"))
	assert.Equal(tab.t, []string{"carrier", "courier"}, tab.names("#breakers [data-name]"))
	assert.Equal(tab.t, "closed", tab.stateOf("carrier"))
	assert.Regexp(tab.t, `0 of 1 call failed`, tab.text(carrierCard))
	assert.NotRegexp(tab.t, `closed → open`, evaluate[string](tab, `document.querySelector('`+carrierCard+`').textContent`))
	assert.Regexp(tab.t, `^Query\.quotes\s+1\s+0\s+none\s+never`, tab.text("#fields tbody"))
	assert.Equal(tab.t, 1, evaluate[int](tab, `document.querySelectorAll("#fields tbody tr").length`))
	assert.Contains(tab.t, tab.text("#events"), "No events yet.")
	assert.Contains(tab.t, tab.text("#fallbacks"), "No fallback answered in the last minute.")
	assert.True(tab.t, evaluate[bool](tab, "window.marked"), "it was not loaded anew")
}

func TestThePageIsCorrectAgainAfterARestartOfTheServer(t *testing.T) {
	t.Parallel()
	first := serve(t, "", brokenDown(t))
	tab := openPage(t, first.page())
	tab.reads("#headline", `^carrier: open since`)
	evaluate[bool](tab, "window.marked = true")

	first.end()
	requireLost(tab)

	serve(t, first.address, startedAnew(t))
	requireAnew(tab)
}

func TestThePageIsCorrectAgainAfterAProxyHasAnsweredInPlaceOfTheServer(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"502": http.StatusBadGateway, "503": http.StatusServiceUnavailable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Int64
			var behind atomic.Pointer[http.Handler]
			answerBy := func(handler http.Handler) { behind.Store(&handler) }
			proxy := serve(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*behind.Load()).ServeHTTP(w, r) }))
			before := brokenDown(t)
			answerBy(before)
			tab := openPage(t, proxy.page())
			tab.reads("#headline", `^carrier: open since`)
			evaluate[bool](tab, "window.marked = true")

			answerBy(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				refused.Add(1)
				http.Error(w, "nobody is there", status)
			}))
			before.Close()
			requireLost(tab)
			tab.wait("the page to have tried twice", func() bool { return refused.Load() >= 2 })

			answerBy(startedAnew(t))
			requireAnew(tab)
		})
	}
}

func TestThePageNoticesAConnectionThatNothingComesThrough(t *testing.T) {
	t.Parallel()
	var mute atomic.Bool
	before := brokenDown(t)
	hole := make(chan struct{})
	t.Cleanup(func() { close(hole) })
	server := serve(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before.ServeHTTP(silenced{w, &mute, hole}, r)
	}))
	tab := openPage(t, server.page())
	tab.reads("#headline", `^carrier: open since`)
	mute.Store(true)
	requireLost(tab)
	mute.Store(false)
	tab.reads("#headline", `^carrier: open since`)
	assert.Empty(t, tab.text("#connection"))
	assert.Empty(t, tab.text("#notes"), "it is the same server")
}

func TestAPageOlderThanItsServerSaysSoAndCanBeLoadedAnew(t *testing.T) {
	t.Parallel()
	now := brokenDown(t)
	var loads atomic.Int64
	server := serve(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") || loads.Add(1) > 1 {
			now.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		now.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		_, _ = w.Write(regexp.MustCompile(`data-page="\w+"`).ReplaceAll(answer.Body.Bytes(), []byte(`data-page="before"`)))
	}))
	tab := openPage(t, server.page())
	tab.reads("#notes", `This page is older than the server\.`)
	tab.tabTo("Reload")
	load(tab, chromedp.KeyEvent(kb.Enter))
	tab.reads("#headline", `^carrier: open since`)
	assert.Empty(t, tab.text("#notes"))
}
