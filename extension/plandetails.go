package extension

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gqlresilience/gqlresilience/policy"
)

// planGroup is the fields whose policies have the same name, and the settings that most of them
// have.
type planGroup struct {
	policy string
	fields []PlanField
	usual  []policy.Setting
}

// byPolicy groups the fields, in the order in which the policies come up.
func (p Plan) byPolicy() []*planGroup {
	var groups []*planGroup
	for _, f := range p.Fields {
		at := slices.IndexFunc(groups, func(g *planGroup) bool { return g.policy == f.Policy })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &planGroup{policy: f.Policy})
		}
		groups[at].fields = append(groups[at].fields, f)
	}
	for _, g := range groups {
		g.settle()
	}
	return groups
}

// settle finds out what is usual.
func (g *planGroup) settle() {
	have := map[policy.Setting]int{}
	for _, f := range g.fields {
		for _, s := range f.noted() {
			if have[s]++; 2*have[s] > len(g.fields) && !slices.Contains(g.usual, s) {
				g.usual = append(g.usual, s)
			}
		}
	}
}

// noted returns the settings to tell, as text: those that are not the built-in defaults. What
// turned a stage on goes without saying where the stage has others. Fallbacks are told apart.
func (f PlanField) noted() []policy.Setting {
	var list []policy.Setting
	for _, s := range f.Description.Settings {
		if s.Origin != "built-in default" && !isFallback(s) {
			list = append(list, policy.Setting{Path: s.Path, Value: fmt.Sprint(s.Value), Origin: s.Origin})
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

// details writes what is usual, and below it each field with what it has of its own.
func (g *planGroup) details(to io.Writer) {
	fmt.Fprintf(to, "\nPolicy %s\n", g.policy)
	var usual [][]string
	for _, s := range g.usual {
		usual = append(usual, []string{"  " + s.Path, fmt.Sprint(s.Value), s.Origin})
	}
	align(to, usual)
	for _, f := range g.fields {
		fmt.Fprintf(to, "  %s, by %s\n", f.Coordinate, f.Origin)
		align(to, g.unusual(f))
	}
}

// unusual returns what is to be told of the field beside what is usual.
func (g *planGroup) unusual(f PlanField) (rows [][]string) {
	row := func(cells ...string) { rows = append(rows, append([]string{"    " + cells[0]}, cells[1:]...)) }
	own := f.noted()
	off := map[string]bool{}
	for _, s := range g.usual {
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
		if !slices.Contains(g.usual, s) {
			row(s.Path, fmt.Sprint(s.Value), s.Origin)
		}
	}
	if f.Description.Attempts != 1 && !f.retries() {
		row("no retry", "not idempotent")
	}
	for _, fallback := range f.Fallbacks {
		row("fallback", fallback.String(), fallback.Origin)
	}
	if len(f.TakesAlong) > 0 {
		row("failure takes along", strings.Join(ancestors(f.TakesAlong), ", "))
	}
	if why := f.WorstCase.Unbounded; why != "" {
		row("no limit", why)
	}
	return rows
}

// String tells who answers, and for what if not for every failure.
func (f PlanFallback) String() string {
	who := f.Func
	if f.MaxAge > 0 {
		who = fmt.Sprintf("the last good value, up to %v old", f.MaxAge)
	}
	if f.Answers == nil {
		return who
	}
	return who + ", if " + strings.Join(f.Answers, " or ")
}
