package dashboard

import (
	"context"
	"time"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// toldApart is how many pairs of policy and field are told apart, how many policies, and how many breakers,
// bulkheads and limiters each. What comes after them is shown together.
const toldApart = 250

// recorder keeps what has happened lately, whether somebody looks or not: an outage is looked at when it has
// begun. It adds up, and leaves the rest to the snapshot.
type recorder struct {
	start     time.Time
	errorText func(error) string

	fields    *label.Table[*field]
	policies  *label.Table[*history]
	breakers  *label.Table[*changes]
	bulkheads *label.Table[*rejections]
	limiters  *label.Table[*rejections]
	journal   *journal
}

// kinds are the events that are recorded.
var kinds = []policy.EventKind{
	policy.EventCall, policy.EventRetry, policy.EventTimeout, policy.EventCircuitRejected, policy.EventBulkheadRejected,
	policy.EventRateLimited, policy.EventFallback, policy.EventAbandoned,
	policy.EventCircuitOpen, policy.EventCircuitHalfOpen, policy.EventCircuitClosed,
}

func newRecorder(errorText func(error) string) *recorder {
	return &recorder{
		start: time.Now(), errorText: errorText,
		fields:    label.NewTable(toldApart, newField),
		policies:  label.NewTable(toldApart, newHistory),
		breakers:  label.NewTable(toldApart, newChanges),
		bulkheads: label.NewTable(toldApart, newRejections),
		limiters:  label.NewTable(toldApart, newRejections),
		journal:   newJournal(),
	}
}

func (r *recorder) on(_ context.Context, e policy.Event) {
	at := periodOf(r.start, e.Time)
	switch e.Kind {
	case policy.EventCall:
		g := gotBy(e)
		r.fields.Of(e.Policy, e.Source).called(at, e, g)
		r.policies.Of(e.Policy, "").called(at, g, e.Duration)
		return
	case policy.EventRetry:
		r.policies.Of(e.Policy, "").retried(at)
	case policy.EventBulkheadRejected:
		if e.Gate != "" { // otherwise too many attempts of the policy were abandoned
			r.bulkheads.Of(e.Gate, "").add(at)
		}
	case policy.EventRateLimited:
		r.limiters.Of(e.Gate, "").add(at)
	case policy.EventFallback:
		if e.Reason == "" { // otherwise it has failed
			r.fields.Of(e.Policy, e.Source).answeredByFallback(e.Time, r.text(e.Err))
		}
	case policy.EventCircuitOpen, policy.EventCircuitHalfOpen, policy.EventCircuitClosed:
		r.breakers.Of(e.Gate, "").add(e)
	}
	r.journal.add(likeness{
		kind: e.Kind, policy: label.Printable(e.Policy), field: label.Printable(e.Source), gate: label.Printable(e.Gate),
		from: e.From, to: e.To, reason: label.Printable(e.Reason), error: r.text(e.Err), sequence: e.Sequence,
	}, e.Time, e.Attempt)
}

func (r *recorder) text(err error) string {
	if err == nil {
		return ""
	}
	return label.Printable(r.errorText(err))
}
