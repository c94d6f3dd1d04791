package extension

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gqlresilience/gqlresilience/policy"
)

// planGroup is the fields whose policies have the same name, or that have policies of their own
// with the same settings, and the settings that most of them have in common.
type planGroup struct {
	fields []PlanField
	common []policy.Setting
}

// groups lists the groups in the order in which their fields come up.
func (p Plan) groups() []*planGroup {
	var groups []*planGroup
	byPolicy, bySettings := map[string]*planGroup{}, map[string]*planGroup{}
	for _, f := range p.Fields {
		settings := ""
		group := byPolicy[f.Policy]
		if f.Policy == f.Coordinate {
			settings = fmt.Sprintf("%q", f.notableSettings())
			group = cmp.Or(group, bySettings[settings])
		}
		if group == nil {
			group = &planGroup{}
			groups = append(groups, group)
			byPolicy[f.Policy] = group
			if f.Policy == f.Coordinate {
				bySettings[settings] = group
			}
		}
		group.fields = append(group.fields, f)
	}
	for _, g := range groups {
		g.findCommon()
	}
	return groups
}

// findCommon finds out what most fields have, in the order of the field with most settings.
func (g *planGroup) findCommon() {
	have := map[policy.Setting]int{}
	lists := make([][]policy.Setting, len(g.fields))
	for i, f := range g.fields {
		lists[i] = f.notableSettings()
		for _, s := range lists[i] {
			have[s]++
		}
	}
	slices.SortStableFunc(lists, func(a, b []policy.Setting) int { return cmp.Compare(len(b), len(a)) })
	for _, list := range lists {
		for _, s := range list {
			if 2*have[s] > len(g.fields) && !slices.Contains(g.common, s) {
				g.common = append(g.common, s)
			}
		}
	}
}

// notableSettings returns the settings to show, as text: those that are not the built-in defaults.
// What turned a stage on goes without saying where the stage has others. Fallbacks are shown apart.
func (f PlanField) notableSettings() []policy.Setting {
	var list []policy.Setting
	for _, s := range f.Description.Settings {
		if s.Origin != "built-in default" && !isFallback(s) {
			s.Value = fmt.Sprint(s.Value) // comparable
			list = append(list, s)
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(s policy.Setting) bool {
		return s.Path == stageOf(s)+".enabled" && slices.ContainsFunc(list, func(other policy.Setting) bool {
			return other != s && stageOf(other) == stageOf(s)
		})
	})
}

func stageOf(s policy.Setting) string {
	stage, _, _ := strings.Cut(s.Path, ".")
	return stage
}

// details writes what the fields have in common, and below it each field with what it differs in.
func (g *planGroup) details(to io.Writer) {
	heading := "Policy " + g.fields[0].Policy
	if g.fields[0].Policy != g.fields[len(g.fields)-1].Policy {
		heading = "Policies of the fields' own"
	}
	fmt.Fprintf(to, "\n%s\n", heading)
	var rows [][]string
	for _, s := range g.common {
		rows = append(rows, []string{"  " + s.Path, fmt.Sprint(s.Value), s.Origin})
	}
	align(to, rows)
	for _, f := range g.fields {
		fmt.Fprintf(to, "  %s, by %s\n", f.Coordinate, f.Origin)
		align(to, g.differences(f))
	}
}

// differences returns what is to be told of the field beside what is common.
func (g *planGroup) differences(f PlanField) (rows [][]string) {
	row := func(cells ...string) { rows = append(rows, append([]string{"    " + cells[0]}, cells[1:]...)) }
	own := f.notableSettings()
	off := map[string]bool{}
	for _, s := range g.common {
		stage := stageOf(s)
		switch {
		case slices.ContainsFunc(own, func(o policy.Setting) bool { return o.Path == s.Path }), off[stage]:
		case slices.ContainsFunc(f.Description.Settings, func(o policy.Setting) bool { return stageOf(o) == stage }):
			row(s.Path, "not set")
		default:
			off[stage] = true
			row(stage, "off")
		}
	}
	for _, s := range own {
		if !slices.Contains(g.common, s) {
			row(s.Path, fmt.Sprint(s.Value), s.Origin)
		}
	}
	if f.Description.Attempts != 1 && !f.retries() {
		row("no retry", "not idempotent")
	}
	for _, fallback := range f.Fallbacks {
		row("fallback", fallback.answer(), fallback.Origin)
		for i, condition := range fallback.When {
			if i == 0 {
				row("", "if "+condition)
			} else {
				row("", "or "+condition)
			}
		}
	}
	for i, ancestor := range f.TakesAlong {
		if i == mostListed {
			row("", fmt.Sprintf("and %d more", len(f.TakesAlong)-i))
			break
		}
		label := ""
		if i == 0 {
			label = "failure takes along"
		}
		row(label, ancestor.String())
	}
	if why := f.WorstCase.Unbounded; why != "" {
		row("no limit", why)
	}
	return rows
}

// answer tells what answers.
func (f PlanFallback) answer() string {
	if f.MaxAge > 0 {
		return fmt.Sprintf("the last good value, up to %v old", f.MaxAge)
	}
	return f.Func
}
