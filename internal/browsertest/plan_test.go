package browsertest

import (
	"testing"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestWhatIsWithoutAPlanIsShownAllTheSame(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		options []dashboard.Option
		says    string
	}{
		"none":              {nil, `The server shows no plan\.`},
		"an empty one":      {[]dashboard.Option{dashboard.WithPlan(func() extension.Plan { return extension.Plan{} })}, `No field is protected\.`},
		"one that can't be": {[]dashboard.Option{dashboard.WithPlan(func() extension.Plan { panic("no schema yet") })}, `The server can not tell the plan: the plan's function panicked`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := openPage(t, serve(t, "", watch(t, map[string]policy.Spec{"carrier": breaking}, tc.options...)).page())
			tab.reads("#headline", `^Circuit breaker carrier is closed\.`)
			tab.reads("#plan", tc.says)
			tab.requireNoComplaint()
		})
	}
}
