package dashboard

import (
	"cmp"
	"slices"
	"time"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// policyView has the columns of a policy's charts, and the sum of them.
type policyView struct {
	Name           string            `json:"name"`
	CircuitBreaker string            `json:"circuitBreaker,omitempty"` // of a preset; those of fields are in the plan
	Calls          [columns]int      `json:"calls"`
	Failures       [columns]int      `json:"failures"`  // whose caller got an error of the dependency's or the policy's
	Fallbacks      [columns]int      `json:"fallbacks"` // whose caller got the fallback
	Retries        [columns]int      `json:"retries"`
	P50            [columns]*seconds `json:"p50"` // null without calls
	P99            [columns]*seconds `json:"p99"`
	Total          totalView         `json:"total"`
}

type totalView struct {
	Calls     int      `json:"calls"`
	Failures  int      `json:"failures"`
	Fallbacks int      `json:"fallbacks"`
	Retries   int      `json:"retries"`
	P50       *seconds `json:"p50"`
	P99       *seconds `json:"p99"`
}

func (d *Dashboard) viewPolicies(now period) []policyView {
	all := []policyView{}
	for _, h := range d.recorder.policies.All() {
		v := h.view(now)
		v.CircuitBreaker = d.breakerOf[v.Name]
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b policyView) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// breakersOf are the breakers of the registry's presets, by the name that the preset is shown by.
func breakersOf(registry *policy.Registry) map[string]string {
	all := map[string]string{}
	for name, p := range registry.Presets() {
		all[label.Printable(name)] = p.Describe().CircuitBreaker
	}
	return all
}

func (h *history) view(now period) policyView {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := policyView{Name: h.policy}
	var took durations
	h.ring.each(now, func(i int, c *column) {
		v.Calls[i], v.Failures[i], v.Fallbacks[i], v.Retries[i] = c.calls, c.failures, c.fallbacks, c.retries
		v.P50[i], v.P99[i] = c.took.seconds(0.5), c.took.seconds(0.99)
		v.Total.Calls += c.calls
		v.Total.Failures += c.failures
		v.Total.Fallbacks += c.fallbacks
		v.Total.Retries += c.retries
		took.addAll(&c.took)
	})
	v.Total.P50, v.Total.P99 = took.seconds(0.5), took.seconds(0.99)
	return v
}

// seconds is the percentile, nil without calls.
func (d *durations) seconds(share float64) *seconds {
	p, ok := d.percentile(share)
	if !ok {
		return nil
	}
	return new(seconds(p.Round(time.Microsecond)))
}

type fieldView struct {
	Field       string         `json:"field"`
	Policy      string         `json:"policy"`
	Got         map[string]int `json:"got"` // how many callers got what in the last five minutes
	LastAnswer  moment         `json:"lastAnswer"`
	LastProblem moment         `json:"lastProblem"`
	Problem     string         `json:"problem,omitempty"`
}

// sortedFields are all, by name.
func (r *recorder) sortedFields() []*field {
	all := r.fields.All()
	slices.SortFunc(all, func(a, b *field) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.policy, b.policy)) })
	return all
}

func (r *recorder) viewFields(now period) []fieldView {
	all := []fieldView{}
	for _, f := range r.sortedFields() {
		all = append(all, f.view(now))
	}
	return all
}

func (f *field) view(now period) fieldView {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := fieldView{Field: f.name, Policy: f.policy, Got: map[string]int{}, LastAnswer: moment(f.lastAnswer), LastProblem: moment(f.lastProblem)}
	f.got.each(now, func(_ int, counts *[sorts]uint32) {
		for g, n := range counts {
			if n > 0 {
				v.Got[got(g).String()] += int(n)
			}
		}
	})
	if !f.lastProblem.IsZero() {
		v.Problem = f.problem.String()
	}
	return v
}

type fallbackView struct {
	Field  string `json:"field"`
	Policy string `json:"policy"`
	For    string `json:"for"` // the error that it answered for last
	Since  moment `json:"since"`
	Last   moment `json:"last"`
	Count  int    `json:"count"`
}

func (r *recorder) viewFallbacks(now time.Time) []fallbackView {
	all := []fallbackView{}
	for _, f := range r.sortedFields() {
		if run, ok := f.fallbackNow(now); ok {
			all = append(all, fallbackView{f.name, f.policy, run.why, moment(run.since), moment(run.last), run.count})
		}
	}
	return all
}

// fallbackNow returns the answers of the fallback that count as being served.
func (f *field) fallbackNow(now time.Time) (run fallbackRun, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fallback, f.fallback.goesOn(now, f.lastAnswer)
}

type eventView struct {
	Time    moment           `json:"time"`
	Last    moment           `json:"last"` // of those that are told together
	Count   int              `json:"count"`
	Kind    policy.EventKind `json:"kind"`
	Policy  string           `json:"policy,omitempty"`
	Field   string           `json:"field,omitempty"`
	Gate    string           `json:"gate,omitempty"`
	Attempt int              `json:"attempt,omitempty"`
	From    string           `json:"from,omitempty"`
	To      string           `json:"to,omitempty"`
	Reason  string           `json:"reason,omitempty"`
	Error   string           `json:"error,omitempty"`
}

func viewEvents(entries []entry) []eventView {
	all := make([]eventView, 0, len(entries))
	for _, e := range entries {
		v := eventView{
			Time: moment(e.first), Last: moment(e.last), Count: e.count, Kind: e.kind, Policy: e.policy, Field: e.field,
			Gate: e.gate, Attempt: e.attempt, Reason: e.reason, Error: e.error,
		}
		if e.change() {
			v.From, v.To = e.from.String(), e.to.String()
		}
		all = append(all, v)
	}
	return all
}
