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
// with the same settings, and the settings that most of them have.
type planGroup struct {
	fields []PlanField
	usual  []policy.Setting
}

// groups lists the groups in the order in which their fields come up.
func (p Plan) groups() []*planGroup {
	var groups []*planGroup
	for _, f := range p.Fields {
		at := slices.IndexFunc(groups, func(g *planGroup) bool { return g.fields[0].isLike(f) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &planGroup{})
		}
		groups[at].fields = append(groups[at].fields, f)
	}
	for _, g := range groups {
		g.settle()
	}
	return groups
}

func (f PlanField) isLike(other PlanField) bool {
	own := f.Policy == f.Coordinate && other.Policy == other.Coordinate
	return f.Policy == other.Policy || own && slices.Equal(f.noted(), other.noted())
}

// settle finds out what is usual, in the order of the field with most settings.
func (g *planGroup) settle() {
	have := map[policy.Setting]int{}
	lists := make([][]policy.Setting, len(g.fields))
	for i, f := range g.fields {
		lists[i] = f.noted()
		for _, s := range lists[i] {
			have[s]++
		}
	}
	slices.SortStableFunc(lists, func(a, b []policy.Setting) int { return cmp.Compare(len(b), len(a)) })
	for _, list := range lists {
		for _, s := range list {
			if 2*have[s] > len(g.fields) && !slices.Contains(g.usual, s) {
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

// details writes what is usual, and below it each field with what it has of its own.
func (g *planGroup) details(to io.Writer) {
	heading := "Policy " + g.fields[0].Policy
	if g.fields[0].Policy != g.fields[len(g.fields)-1].Policy {
		heading = "Policies of the fields' own"
	}
	fmt.Fprintf(to, "\n%s\n", heading)
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
		row("fallback", fallback.who(), fallback.Origin)
		for i, answers := range fallback.Answers {
			row("", []string{"if ", "or "}[min(i, 1)]+answers)
		}
	}
	for i, ancestor := range f.TakesAlong {
		row([]string{"failure takes along", ""}[min(i, 1)], ancestor.String())
	}
	if why := f.WorstCase.Unbounded; why != "" {
		row("no limit", why)
	}
	return rows
}

// who tells who answers.
func (f PlanFallback) who() string {
	if f.MaxAge > 0 {
		return fmt.Sprintf("the last good value, up to %v old", f.MaxAge)
	}
	return f.Func
}
