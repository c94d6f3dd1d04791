package dashboard

import (
	"context"
	"time"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// toldApart is how many pairs of policy and field are told apart, and how many policies. What comes after them is
// shown together.
const toldApart = 250

// recorder keeps what has happened lately, whether somebody looks or not: an outage is looked at when it has
// begun. It adds up, and leaves the rest to the snapshot.
type recorder struct {
	start     time.Time
	errorText func(error) string

	fields    *label.Table[*field]
	policies  *label.Table[*history]
	breakers  byGate[changes]
	bulkheads byGate[rejections]
	limiters  byGate[rejections]
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
		fields:   label.NewTable(toldApart, newField),
		policies: label.NewTable(toldApart, newHistory),
		journal:  newJournal(),
	}
}

func (r *recorder) on(_ context.Context, e policy.Event) {
	at := periodOf(r.start, e.Time)
	if e.Kind == policy.EventCall {
		g := gotBy(e)
		r.fields.Of(e.Policy, e.Source).called(at, e, g)
		r.policies.Of(e.Policy, "").called(at, g, e.Duration)
		return
	}
	errorText := r.text(e.Err)
	switch e.Kind {
	case policy.EventRetry:
		r.policies.Of(e.Policy, "").retried(at)
	case policy.EventBulkheadRejected:
		if e.Gate != "" { // otherwise too many attempts of the policy were abandoned
			r.bulkheads.of(e.Gate).add(at)
		}
	case policy.EventRateLimited:
		r.limiters.of(e.Gate).add(at)
	case policy.EventFallback:
		if e.Reason == "" { // otherwise it has failed
			r.fields.Of(e.Policy, e.Source).answeredByFallback(e.Time, errorText)
		}
	case policy.EventCircuitOpen, policy.EventCircuitHalfOpen, policy.EventCircuitClosed:
		r.breakers.of(e.Gate).add(e)
	}
	r.journal.add(likeness{
		kind: e.Kind, policy: label.Printable(e.Policy), field: label.Printable(e.Source), gate: label.Printable(e.Gate),
		from: e.From, to: e.To, reason: label.Printable(e.Reason), error: errorText, sequence: e.Sequence,
	}, e.Time, e.Attempt)
}

// beginning is when a period began, by the clock as it goes now: it may have been set since the start.
func (r *recorder) beginning(p period, now time.Time) time.Time {
	return now.Add(time.Duration(p-1)*step - now.Sub(r.start))
}

// text tells of an error. Whatever the error's methods do, as those of a nil pointer do, the event is told.
func (r *recorder) text(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = label.ErrorType(err)
		}
	}()
	return label.Printable(r.errorText(err))
}
