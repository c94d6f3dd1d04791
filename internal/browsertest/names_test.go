package browsertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

var (
	markup   = `<img src=x onerror="document.title='hacked'">`
	endless  = strings.Repeat("W", 200)
	reversed = "Query.\u202Estohs" // whose letters from the mark on run from right to left
)

// withHostileNames has everything that has a name by names that somebody might have meant badly.
func withHostileNames(t *testing.T) watched {
	t.Helper()
	presets := map[string]policy.Spec{}
	instead := func(context.Context, error) (any, error) { return "instead", nil }
	for _, name := range []string{markup, endless} { // a registry takes no name with a mark that can't be seen
		presets[name] = policy.Spec{
			CircuitBreaker: breaking.CircuitBreaker,
			Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1)},
			RateLimit:      &policy.RateLimitSpec{Limit: new(100), Interval: new(time.Second)},
		}
	}
	answered := presets[markup]
	answered.Fallback = &policy.FallbackSpec{Func: instead}
	presets[markup] = answered
	var plan extension.Plan
	w := watch(t, presets, dashboard.WithPlan(func() extension.Plan { return plan }), dashboard.WithErrorText(error.Error), everybody)
	for name, p := range w.registry.Presets() {
		plan.Fields = append(plan.Fields, extension.PlanField{Coordinate: name, Origin: name, Policy: name, Description: p.Describe()})
	}
	plan.Fields = append(plan.Fields, extension.PlanField{Coordinate: reversed, Origin: reversed, Policy: reversed, Description: plan.Fields[0].Description})
	for _, source := range []string{markup, endless, reversed} {
		w.call(markup, source, 2, errors.New(markup))
		w.call(endless, source, 2, errors.New(endless))
	}
	return w
}

func TestHostileNamesAreShownAsText(t *testing.T) {
	t.Parallel()
	tab := openPage(t, serve(t, "", withHostileNames(t)).page())
	tab.do(chromedp.EmulateViewport(360, 740))
	tab.waitFor("the plan", `document.querySelectorAll("#plan tbody tr").length === 3`)
	evaluate[bool](tab, `document.querySelectorAll("details").forEach((details) => details.open = true) ?? true`)

	for _, section := range []string{"breakers", "bulkheads", "limiters", "policies"} {
		text := tab.text("#" + section)
		for _, name := range []string{markup, endless} {
			assert.Contains(t, text, name, section)
		}
	}
	for _, section := range []string{"fallbacks", "fields", "events", "plan"} {
		text := tab.text("#" + section)
		for _, name := range []string{markup, endless, reversed} {
			assert.Contains(t, text, name, section)
		}
	}
	assert.Contains(t, tab.text("#headline"), markup+": open since")
	assert.Contains(t, evaluate[string](tab, "document.title"), markup, "as text there, too")

	assert.Zero(t, evaluate[int](tab, `document.images.length`))
	assert.Empty(t, evaluate[[]string](tab, strayTurns), "what runs from right to left ends with its name")
	assert.Equal(t, 360, evaluate[int](tab, "innerWidth"))
	assert.LessOrEqual(t, evaluate[int](tab, "document.documentElement.scrollWidth"), 360, "nothing scrolls sideways but what is in a box for that: %s", evaluate[[]string](tab, tooWide))
	tab.requireNoComplaint()
}

// strayTurns are the texts that turn the direction of what comes after them in the same line and is not theirs: a name's
// turn ends with the nearest element that isolates, which must end with the name, or with the error in which it is.
const strayTurns = `(() => {
	const stray = [];
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		let within = texts.currentNode.parentElement;
		if (!texts.currentNode.data.includes("\u202E") || within.closest("script")) continue;
		while (!getComputedStyle(within).unicodeBidi.startsWith("isolate")) within = within.parentElement;
		if (!/(stohs|the circuit is open)$/.test(within.textContent.trimEnd())) stray.push(within.textContent);
	}
	return stray;
})()`

// tooWide are the elements that make the page scroll.
const tooWide = `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll")).map((e) => e.outerHTML.slice(0, 200))`

func TestOnAPhoneOnlyTablesScrollSideways(t *testing.T) {
	t.Parallel()
	presets := map[string]policy.Spec{}
	for i := range 30 {
		presets[fmt.Sprint("carrier", i)] = breaking
	}
	w := watch(t, presets, everybody)
	for name := range presets {
		w.call(name, "Query."+name, 4, errDown)
	}
	tab := openPage(t, serve(t, "", w).page())
	tab.do(chromedp.EmulateViewport(360, 740))
	assert.LessOrEqual(t, evaluate[int](tab, "document.documentElement.scrollWidth"), 360, evaluate[[]string](tab, tooWide))
	assert.Greater(t, evaluate[int](tab, `document.querySelector("#fields .scroll").scrollWidth`), 360)
}
