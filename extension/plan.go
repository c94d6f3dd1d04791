package extension

import (
	"slices"
	"strings"
)

// Plan tells what the fields with a policy have come to. Its String is a text for people, its
// JSON is for tools; both are the same whenever the settings are, so that they can be compared
// with what they were.
type Plan struct {
	// Budget is what one operation may take; nil: no limit.
	Budget *Budget

	// Fields are sorted by coordinate, without those that are known to be plain data in Go and
	// so never pass a policy. One that several servers have is told once, if it has come to the
	// same in all of them.
	Fields []PlanField
}

// Plan returns what the annotated fields have come to, of all servers that use the extension so
// far. Before the first Use it has no fields. See also [Extension.PlanSchema].
func (e *Extension) Plan() Plan {
	plan := e.newPlan()
	known := e.servers.Load()
	if known == nil {
		return plan
	}
	seen := map[*server]bool{}
	for _, s := range known.byRoot {
		if !seen[s] {
			seen[s] = true
			plan.Fields = append(plan.Fields, e.planServer(s)...)
		}
	}
	plan.sort()
	return plan
}

// newPlan returns a plan without fields.
func (e *Extension) newPlan() Plan {
	if e.budget == nil {
		return Plan{}
	}
	return Plan{Budget: new(*e.budget)}
}

// sort brings the fields in order and drops all but one of those that are the same.
func (p *Plan) sort() {
	compare := func(a, b PlanField) int {
		if by := strings.Compare(a.Coordinate, b.Coordinate); by != 0 {
			return by
		}
		return strings.Compare(a.text(), b.text())
	}
	slices.SortFunc(p.Fields, compare)
	p.Fields = slices.CompactFunc(p.Fields, func(a, b PlanField) bool { return compare(a, b) == 0 })
}
