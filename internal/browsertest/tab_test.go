package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const (
	// patience is how long a test waits for what must come; only failing tests wait it out.
	patience = 30 * time.Second
	// glance is how long it is from one look at a page to the next.
	glance = 50 * time.Millisecond
)

// tab is one of the browser's, with nothing in it that another one has left.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string // of the browser's console; guarded by mu
}

// witness runs in each document before its own script. It keeps what the headline has said, one text after
// the other, how often it was touched, and what the content security policy has kept from happening.
const witness = `
	window.said = [];
	window.touched = 0;
	window.violations = [];
	document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI));
	document.addEventListener("DOMContentLoaded", () => {
		const headline = document.getElementById("headline");
		if (!headline) return;
		const listen = () => { if (said.at(-1) !== headline.innerText) said.push(headline.innerText); };
		new MutationObserver(() => { touched++; listen(); }).observe(headline, { childList: true, characterData: true, subtree: true });
		listen();
	});`

// newTab opens a tab whose times are UTC.
func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(startedBrowser(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	tab := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, tab.listen))
	call(tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	call(tab, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: witness})
	return tab
}

// openTab opens a tab at the address.
func openTab(t *testing.T, url string) *tab {
	t.Helper()
	tab := newTab(t)
	tab.do(chromedp.Navigate(url))
	return tab
}

// openPage opens a tab at the dashboard's page, and waits for its first snapshot.
func openPage(t *testing.T, url string) *tab {
	t.Helper()
	tab := openTab(t, url)
	tab.waitFor("the first snapshot", `document.body.dataset.connected === "true"`)
	return tab
}

// call has the browser carry out a command in the tab.
func call[P, R any](tab *tab, command cdp.Command[P, R], params P) R {
	tab.t.Helper()
	return run(tab, func(ctx context.Context, target *chromedp.Target) (R, error) {
		return cdp.Call(ctx, target, command, params)
	})
}

func run[T any](tab *tab, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(tab.t, err)
	return value
}

func (tab *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	run(tab, chromedp.Steps(actions...))
}

// evaluate returns what the expression comes to in the page.
func evaluate[T any](tab *tab, expression string) T {
	tab.t.Helper()
	return run(tab, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// text returns what a person reads in the first element of the selector, "" without one.
func (tab *tab) text(selector string) string {
	tab.t.Helper()
	return evaluate[string](tab, fmt.Sprintf(`document.querySelector(%s)?.innerText ?? ""`, quoted(selector)))
}

// names returns the data-name of all elements of the selector, in their order.
func (tab *tab) names(selector string) []string {
	tab.t.Helper()
	return evaluate[[]string](tab, fmt.Sprintf(`[...document.querySelectorAll(%s)].map((node) => node.dataset.name)`, quoted(selector)))
}

// stateOf returns the state that the breaker's card is marked with.
func (tab *tab) stateOf(breaker string) string {
	tab.t.Helper()
	return evaluate[string](tab, fmt.Sprintf(`document.querySelector("#breakers [data-name=" + CSS.escape(%s) + "]").dataset.state`, quoted(breaker)))
}

// waitFor waits for the expression to become true.
func (tab *tab) waitFor(what, expression string) {
	tab.t.Helper()
	tab.wait(what, func() bool { return evaluate[bool](tab, "Boolean("+expression+")") })
}

// reads waits until the element's text matches the pattern, and returns the text.
func (tab *tab) reads(selector, pattern string) (text string) {
	tab.t.Helper()
	wanted := regexp.MustCompile("(?s)" + pattern)
	tab.wait(fmt.Sprintf("%s to read %q", selector, pattern), func() bool {
		text = tab.text(selector)
		return wanted.MatchString(text)
	})
	return text
}

// wait looks until there is what was waited for. A test that waits in vain tells what the page says.
func (tab *tab) wait(what string, isThere func() bool) {
	tab.t.Helper()
	for deadline := time.Now().Add(patience); !isThere(); {
		if time.Now().After(deadline) {
			require.FailNow(tab.t, "waited in vain for "+what, "the page, of which there is a picture at %s:\n%s", tab.picture(), tab.text("body"))
		}
		<-time.After(glance)
	}
}

// picture takes one and returns its path.
func (tab *tab) picture() string {
	tab.t.Helper()
	path := filepath.Join(tab.t.ArtifactDir(), "page.png")
	require.NoError(tab.t, os.WriteFile(path, run(tab, chromedp.FullScreenshot(100)), 0o600))
	return path
}

// press presses the key, as a person does who has no pointer.
func (tab *tab) press(key string) {
	tab.t.Helper()
	tab.do(chromedp.KeyEvent(key))
}

// load does what has the tab load a page, and waits for it.
func load[T any](tab *tab, trigger chromedp.Action[T]) {
	tab.t.Helper()
	run(tab, chromedp.WaitEvent(page.LoadEventFired, nil, trigger))
}

// listen keeps the errors and warnings of the console.
func (tab *tab) listen(event any) {
	var complaint string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			complaint += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			complaint += fmt.Sprintf("%s: %s%s ", e.Type, arg.Value, arg.Description)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			complaint = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if complaint == "" {
		return
	}
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.complaints = append(tab.complaints, complaint)
}

// requireNoComplaint checks that the browser had nothing to say against the page.
func (tab *tab) requireNoComplaint() {
	tab.t.Helper()
	require.Empty(tab.t, evaluate[[]string](tab, "violations"), "of the content security policy")
	tab.mu.Lock()
	defer tab.mu.Unlock()
	require.Empty(tab.t, tab.complaints, "in the console")
}

// quoted is the text as JavaScript has it.
func quoted(text string) string {
	literal, _ := json.Marshal(text)
	return string(literal)
}
