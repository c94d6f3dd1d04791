package dashboard

import (
	"sync"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

// lately is how long after a fallback has answered for a field it counts as being served, unless the field
// has answered itself since; answers this recent do not end it at once, for one item of a list may have
// answered beside others that did not.
const (
	lately  = time.Minute
	justNow = time.Second
)

// field is what callers of a field, or of a job, got.
type field struct {
	policy, name string

	mu sync.Mutex
	// All below is guarded by mu.
	got         ring[[sorts]uint32]
	lastAnswer  time.Time
	lastProblem time.Time
	problem     got
	fallback    fallbackRun
}

// fallbackRun is the answers of a field's fallback that follow each other within a minute.
type fallbackRun struct {
	since, last time.Time
	count       int
	why         string // of the last one
}

func newField(policy, name string) *field { return &field{policy: policy, name: name} }

func (f *field) called(p period, e policy.Event, g got) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got.at(p)[g]++
	switch {
	case g == gotAnswer && !e.Time.Before(f.lastAnswer): // it may have been held up on its way here
		f.lastAnswer = e.Time
	case g.problem() && !e.Time.Before(f.lastProblem):
		f.lastProblem, f.problem = e.Time, g
	}
}

// answeredByFallback takes note of an answer for an error of that sort.
func (f *field) answeredByFallback(at time.Time, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run := &f.fallback
	if !run.goesOn(at, f.lastAnswer) {
		*run = fallbackRun{since: at}
	}
	run.count++
	if !at.Before(run.last) { // it may have been held up, too
		run.last, run.why = at, why
	}
}

// goesOn reports whether the fallback still counts as being served.
func (r *fallbackRun) goesOn(now, lastAnswer time.Time) bool {
	since := now.Sub(r.last)
	return r.count > 0 && since <= lately && (since <= justNow || !lastAnswer.After(r.last))
}
