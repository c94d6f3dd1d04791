package policy

import (
	"context"
	"time"
)

// transition is a change of state that is yet to be published.
type transition struct {
	from, to State
	at       time.Time
	reason   string
	sequence uint64
}

// publish tells subscribers of changes; mu must not be held.
func (b *CircuitBreaker) publish(ctx context.Context, changes []transition, policy, source string) {
	for _, c := range changes {
		if c.from == c.to {
			continue
		}
		b.events.publish(ctx, Event{
			Kind: transitionKind(c.to), Time: c.at, Policy: policy, Source: source, Gate: b.name,
			From: c.from, To: c.to, Reason: c.reason, Sequence: c.sequence,
		})
	}
}
