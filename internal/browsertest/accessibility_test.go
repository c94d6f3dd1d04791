package browsertest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

// withSomethingOfAll has a breaker in each state, and something to tell in each section.
func withSomethingOfAll(t *testing.T) watched {
	t.Helper()
	soon := *breaking.CircuitBreaker
	soon.OpenDuration = new(time.Millisecond)
	var plan extension.Plan
	w := watch(t, map[string]policy.Spec{
		"carrier":   breaking,
		"warehouse": {CircuitBreaker: &soon},
		"mail":      breaking,
		"export":    {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(2)}},
		"sms":       {RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)}},
	}, dashboard.WithPlan(func() extension.Plan { return plan }), everybody)
	for name, p := range w.registry.Presets() {
		plan.Fields = append(plan.Fields, extension.PlanField{Coordinate: "Query." + name, Origin: "a test", Policy: name, Description: p.Describe()})
	}
	w.call("carrier", "Query.quotes", 6, errDown)
	w.call("warehouse", "Query.stock", 4, errDown)
	w.call("mail", "Mutation.send", 3, nil)
	w.call("export", "Query.export", 1, nil)
	w.call("sms", "Mutation.text", 2, nil)
	return w
}

// openSomethingOfAll opens the page with all that can be folded out.
func openSomethingOfAll(t *testing.T) *tab {
	t.Helper()
	tab := openPage(t, serve(t, "", withSomethingOfAll(t)).page())
	tab.waitFor("the plan", `document.querySelectorAll("#plan tbody tr").length === 5`)
	evaluate[bool](tab, `document.querySelectorAll("details").forEach((details) => details.open = true) ?? true`)
	assert.Equal(t, []string{"open", "closed", "half-open"}, []string{tab.stateOf("carrier"), tab.stateOf("mail"), tab.stateOf("warehouse")})
	return tab
}

// named are the roles of what is nothing to a screen reader without a name.
var named = []string{"RootWebArea", "button", "table", "region", "link", "image", "img", "navigation", "heading", "dialog", "columnheader", "rowheader", "DisclosureTriangle"}

func TestAllThatScreenReadersTellOfHasAName(t *testing.T) {
	t.Parallel()
	tab := openSomethingOfAll(t)
	count := map[string]int{}
	for _, node := range call(tab, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		role := valueOf(t, node.Role)
		if node.Ignored || !slices.Contains(named, role) {
			continue
		}
		count[role]++
		assert.NotEmpty(t, valueOf(t, node.Name), "a %s, node %s", role, node.NodeID)
	}
	t.Log(count)
	assert.Equal(t, 6, count["button"], "two for each breaker")
	assert.Equal(t, 3, count["table"])
	assert.GreaterOrEqual(t, count["region"], 8, "the sections")
	assert.GreaterOrEqual(t, count["image"]+count["img"], 3+4*5, "strips and charts")
}

func valueOf(t *testing.T, value *accessibility.Value) (text string) {
	t.Helper()
	if value == nil {
		return ""
	}
	require.NoError(t, json.Unmarshal(value.Value, &text))
	return text
}

func TestTheDocumentHasALanguageOneTopHeadingAndOneLiveRegion(t *testing.T) {
	t.Parallel()
	tab := openSomethingOfAll(t)
	assert.Equal(t, "en", evaluate[string](tab, "document.documentElement.lang"))
	assert.Equal(t, 1, evaluate[int](tab, `document.querySelectorAll("h1").length`))
	assert.Equal(t, []string{"headline"}, evaluate[[]string](tab, `[...document.querySelectorAll("[aria-live], [role=status], [role=alert], [role=log]")].map((node) => node.id)`))
	assert.Equal(t, "polite", evaluate[string](tab, `document.getElementById("headline").ariaLive`))
	assert.Empty(t, evaluate[[]string](tab, `[...document.querySelectorAll("[id]")].map((node) => node.id).filter((id, i, all) => all.indexOf(id) !== i)`), "ids that are not unique")
	assert.Empty(t, evaluate[[]string](tab, `[...document.querySelectorAll("th:not([scope])")].map((cell) => cell.outerHTML)`))
}

func TestWhatHasTheFocusKeepsItWhileSnapshotsArrive(t *testing.T) {
	t.Parallel()
	w := withSomethingOfAll(t)
	tab := openPage(t, serve(t, "", w).page())
	tab.tabTo("Trip… mail")
	evaluate[bool](tab, "(window.button = document.activeElement) !== null")
	for range 2 {
		w.call("mail", "Mutation.send", 1, nil)
		before := tab.text("#server")
		tab.wait("another snapshot", func() bool { return tab.text("#server") != before })
	}
	w.breaker("mail").Trip()
	tab.waitFor("the card to change", `document.querySelector('#breakers [data-name="mail"]').dataset.state === "open"`)
	assert.True(t, evaluate[bool](tab, "document.activeElement === window.button && window.button.isConnected"))
	assert.Equal(t, []string{"carrier", "warehouse", "mail"}, tab.names("#breakers [data-name]"), "nothing moves under who is there")
}

func TestAnEventThatGrowsStaysTheSameRowForWhoIsThere(t *testing.T) {
	t.Parallel()
	retried := breaking
	retried.Retry = &policy.RetrySpec{Attempts: new(3), Backoff: &policy.BackoffSpec{Delay: new(time.Duration(0))}}
	w := watch(t, map[string]policy.Spec{"carrier": retried})
	w.call("carrier", "Query.quotes", 2, errDown) // of which the second's second attempt is rejected
	tab := openPage(t, serve(t, "", w).page())
	const row = `#events [data-kind="circuit-rejected"]`
	tab.reads(row, `rejected: circuit open\s.*attempt 2`)
	evaluate[bool](tab, `document.querySelector("#events .scroll").focus() ?? true`)
	w.call("carrier", "Query.quotes", 4, errDown)
	tab.reads(row, `rejected: circuit open × 5\s.*attempt 1`)
	assert.Empty(t, evaluate[[]string](tab, `[...document.querySelectorAll("#events .gone")].map((row) => row.innerText)`))
	assert.True(t, evaluate[bool](tab, `document.querySelector("#events .waiting").hidden`), "nothing else has happened")
}

func TestTheLiveRegionChangesOnlyWhenSomethingHappens(t *testing.T) {
	t.Parallel()
	w := withSomethingOfAll(t)
	tab := openPage(t, serve(t, "", w).page())
	tab.reads("#headline", "^carrier: open since")
	touched := evaluate[int](tab, "touched")
	for range 3 {
		before := tab.text("#server")
		tab.wait("another snapshot", func() bool { return tab.text("#server") != before })
	}
	assert.Equal(t, touched, evaluate[int](tab, "touched"))
	w.breaker("mail").Trip()
	tab.reads("#headline", "mail: open since")
	assert.Greater(t, evaluate[int](tab, "touched"), touched)
}

func TestTextIsReadableInBothColourSchemes(t *testing.T) {
	t.Parallel()
	tab := openSomethingOfAll(t)
	backgrounds := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		backgrounds[scheme] = evaluate[string](tab, "getComputedStyle(document.body).backgroundColor")
		assert.Greater(t, evaluate[int](tab, measured+".length"), 100)
		assert.Empty(t, evaluate[[]string](tab, measured+".filter((text) => text.contrast < 4.5).map((text) => text.contrast.toFixed(2) + ' ' + text.data)"), scheme)
		evaluate[bool](tab, `document.getElementById("confirm").showModal() ?? true`)
		assert.Empty(t, evaluate[[]string](tab, measured+".filter((text) => text.contrast < 4.5).map((text) => text.contrast.toFixed(2) + ' ' + text.data)"), "%s, dialog", scheme)
		evaluate[bool](tab, `document.getElementById("confirm").close() ?? true`)
	}
	assert.NotEqual(t, backgrounds["light"], backgrounds["dark"])
}

// measured are all texts that can be seen, with their contrast as WCAG 2 defines it.
const measured = `(() => {
	const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
	const luminance = ([r, g, b]) => {
		const linear = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
		return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
	};
	const behind = (element) => {
		for (; element; element = element.parentElement) {
			const [r, g, b, alpha = 1] = numbers(getComputedStyle(element).backgroundColor);
			if (alpha === 1) return [r, g, b];
			if (alpha > 0) throw new Error("half-transparent: " + element.outerHTML);
		}
		throw new Error("nothing behind it");
	};
	const found = [];
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const { data, parentElement } = texts.currentNode;
		if (!data.trim() || !parentElement.checkVisibility() || parentElement.closest(".unseen, script")) continue;
		const [one, other] = [numbers(getComputedStyle(parentElement).color), behind(parentElement)].map(luminance).sort((a, b) => b - a);
		found.push({ data, contrast: (one + 0.05) / (other + 0.05) });
	}
	return found;
})()`
