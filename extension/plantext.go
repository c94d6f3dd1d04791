package extension

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gqlresilience/gqlresilience/policy"
)

// String is a table of the fields, and below it the settings that are not the built-in defaults,
// each with its origin: by policy what most of its fields have, and by field what differs.
func (p Plan) String() string {
	if len(p.Fields) == 0 {
		return "No field has a policy.\n"
	}
	var text strings.Builder
	if budget := p.Budget.text(); budget != "" {
		fmt.Fprintf(&text, "Budget of an operation: %s\n\n", budget)
	}
	p.table(&text)
	if notes := p.notes(); notes != "" {
		text.WriteString("\n" + notes)
	}
	for _, group := range p.groups() {
		group.details(&text)
	}
	return text.String()
}

// text lists what is limited.
func (b *Budget) text() string {
	if b == nil {
		return ""
	}
	var limits []string
	switch {
	case b.Timeout > 0 && b.Header != "":
		limits = append(limits, b.Timeout.String()+", or less by header "+b.Header)
	case b.Timeout > 0:
		limits = append(limits, b.Timeout.String())
	case b.Header != "":
		limits = append(limits, "as long as header "+b.Header+" says")
	}
	if b.Retries != nil {
		limits = append(limits, fmt.Sprint("retries: ", *b.Retries))
	}
	if b.Concurrency > 0 {
		limits = append(limits, fmt.Sprint("attempts at once: ", b.Concurrency))
	}
	return strings.Join(limits, ", ")
}

// The columns are those that fit into 120 letters. Gates are told below the table.
func (p Plan) table(to io.Writer) {
	hookedIn := slices.ContainsFunc(p.Fields, func(f PlanField) bool { return f.HookedIn != "" })
	rows := [][]string{{"FIELD", "POLICY", "HOOKED IN", "TIMEOUT", "ATTEMPTS", "FALLBACK", "WORST CASE"}}
	for _, f := range p.Fields {
		rows = append(rows, f.row())
	}
	for i := range rows {
		if !hookedIn {
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
	}
	align(to, rows)
}

func (f PlanField) row() []string {
	d := f.Description
	coordinate, timeout, fallback, worst := f.Coordinate, "-", "-", "no limit"
	if f.isUnsure() {
		coordinate += " *"
	}
	if d.Mode != 0 {
		timeout = d.Timeout.String() + " " + d.Mode.String()
		if d.Timeout == 0 {
			timeout = d.Total.String() + " in all, " + d.Mode.String()
		}
	}
	if len(f.Fallbacks) > 0 {
		fallback, _, _ = strings.Cut(f.Fallbacks[0].Origin, "(")
	}
	if f.WorstCase.Unbounded == "" {
		worst = f.WorstCase.WithoutRetryAfter.String()
		if f.WorstCase.Duration != f.WorstCase.WithoutRetryAfter {
			worst += " (" + f.WorstCase.Duration.String() + ")"
		}
	}
	return []string{coordinate, f.Policy, cmp.Or(f.HookedIn, "-"), timeout, f.attempts(), fallback, worst}
}

// isUnsure reports whether the field may never run under its policy.
func (f PlanField) isUnsure() bool { return f.ByType || f.LooksLikeData }

// attempts are those in queries and, in brackets if they differ, in other operations.
func (f PlanField) attempts() string {
	word := func(attempts int) string {
		if attempts == policy.Unlimited {
			return "unlimited"
		}
		return fmt.Sprint(attempts)
	}
	switch {
	case f.QueryAttempts == 0:
		return word(f.MutationAttempts)
	case f.MutationAttempts == 0, f.MutationAttempts == f.QueryAttempts:
		return word(f.QueryAttempts)
	default:
		return word(f.QueryAttempts) + " (" + word(f.MutationAttempts) + ")"
	}
}

// notes explain what is in the table.
func (p Plan) notes() (text string) {
	for _, note := range []struct {
		text  string
		about func(PlanField) bool
	}{
		{"* Annotated by its type alone: under the policy only if it has a resolver or a bound method.",
			func(f PlanField) bool { return f.ByType && !f.LooksLikeData }},
		{"* Looks like plain data in Go: under the policy only if gqlgen.yml binds it to a resolver or method.",
			func(f PlanField) bool { return f.LooksLikeData }},
		{"Attempts in brackets: in mutations and subscriptions.",
			func(f PlanField) bool { return strings.Contains(f.attempts(), "(") }},
		{"Worst case in brackets: where the dependency asks for longer waits, by Retry-After.",
			func(f PlanField) bool { return f.WorstCase.Duration != f.WorstCase.WithoutRetryAfter }},
	} {
		if slices.ContainsFunc(p.Fields, note.about) {
			text += note.text + "\n"
		}
	}
	return text
}

// align writes rows with their cells below each other.
func align(to io.Writer, rows [][]string) {
	var text strings.Builder
	writer := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	cells := 0
	for _, row := range rows {
		cells = max(cells, len(row))
	}
	for _, row := range rows { // of which one with fewer cells would end a column
		fmt.Fprintln(writer, strings.Join(row, "\t")+strings.Repeat("\t", cells-len(row)))
	}
	_ = writer.Flush() // a Builder takes everything
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(to, strings.TrimRight(line, " \n"))
	}
}
