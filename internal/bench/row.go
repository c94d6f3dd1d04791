package main

import (
	"fmt"
	"math"
	"strings"
)

// A row of the table is a case against one of its rivals, or a case without any. As JSON it is for tools.
type row struct {
	Case   string  `json:"case"`
	Ns     float64 `json:"ns"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`

	Rival       string  `json:"rival,omitempty"`
	RivalNs     float64 `json:"rivalNs,omitempty"`
	RivalAllocs float64 `json:"rivalAllocs,omitempty"`
	RivalBytes  float64 `json:"rivalBytes,omitempty"`
	Ratio       float64 `json:"ratio,omitempty"` // of the times, or of the bytes without them; the median of the rounds' own

	// Half of the rounds' ratios are between these. Where they are far apart the machine was busy.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`

	Before float64 `json:"before,omitempty"` // the ratio, by what it was before

	Bounds []bound `json:"bounds,omitempty"`
}

// A bound is the most that a figure may be.
type bound struct {
	Of   string  `json:"of"`
	Most float64 `json:"most"`
	Met  bool    `json:"met"`
}

// alike is how far apart numbers of allocations may be that are the same: a query has a few that
// are not its fields', and the runtime makes some of its own.
const alike = 0.05

// rowsOf tells what was measured. The bounds on the case alone stand in its first row.
func rowsOf(c benchCase, measured []measurement) []row {
	rows := make([]row, len(measured))
	for i, m := range measured {
		r := row{Case: c.name, Ns: m.ours.ns, Allocs: m.ours.allocs, Bytes: m.ours.bytes}
		if i == 0 {
			r.limit("ns", m.ours.ns, c.mostNs)
			r.limit("bytes", m.ours.bytes, c.mostBytes)
			r.limit("allocs", m.ours.allocs-alike, c.mostAllocs)
		}
		if i < len(c.rivals) {
			rival := c.rivals[i]
			r.Rival, r.RivalNs, r.RivalAllocs, r.RivalBytes = rival.name, m.rivals.ns, m.rivals.allocs, m.rivals.bytes
			r.Ratio, r.Low, r.High = m.ratio, m.low, m.high
			r.limit("ratio", m.ratio, rival.mostRatio)
			if rival.noAllocs {
				r.Bounds = append(r.Bounds, bound{"allocs more", 0, m.ours.allocs-m.rivals.allocs < alike})
			}
		}
		rows[i] = r
	}
	return rows
}

func (r *row) limit(of string, is, most float64) {
	if most > 0 {
		r.Bounds = append(r.Bounds, bound{of, most, is <= most})
	}
}

func (r row) missed() bool {
	for _, b := range r.Bounds {
		if !b.Met {
			return true
		}
	}
	return false
}

// cells are those of the table.
func (r row) cells() []string {
	cells := []string{r.Case, figure(r.Ns), figure(r.Allocs), figure(r.Bytes), "", "", "", "", "", "", "", ""}
	if r.Ns == 0 {
		cells[1], cells[2] = "", ""
	}
	if r.Rival != "" {
		copy(cells[4:], []string{r.Rival, figure(r.RivalNs), figure(r.RivalAllocs), figure(r.RivalBytes), fmt.Sprintf("%.2f (%.2f–%.2f)", r.Ratio, r.Low, r.High)})
		if r.Ns == 0 {
			cells[5], cells[6] = "", ""
		}
	}
	var bounds []string
	for _, b := range r.Bounds {
		text := fmt.Sprintf("%s ≤ %g", b.Of, b.Most)
		if !b.Met {
			text += " (not)"
		}
		bounds = append(bounds, text)
	}
	if r.Before > 0 {
		cells[9] = fmt.Sprintf("%.2f", r.Before)
	}
	cells[10] = strings.Join(bounds, ", ")
	switch {
	case r.missed():
		cells[11] = "MISSED"
	case len(r.Bounds) > 0:
		cells[11] = "ok"
	}
	return cells
}

// figure has as many digits as mean something.
func figure(x float64) string {
	if math.Abs(x) < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Round(10*x)/10+0), ".0") // + 0: no -0
	}
	return fmt.Sprintf("%.0f", x)
}
