package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestChangesMayComeInAnotherOrderThanTheyWereMadeIn(t *testing.T) {
	start := time.Now()
	change := func(sequence uint64, from, to policy.State) policy.Event {
		return policy.Event{Sequence: sequence, From: from, To: to, Time: start.Add(time.Duration(sequence) * time.Second)}
	}
	opened := change(1, policy.StateClosed, policy.StateOpen)
	halfOpen := change(2, policy.StateOpen, policy.StateHalfOpen)
	closed := change(3, policy.StateHalfOpen, policy.StateClosed)
	for _, order := range [][]policy.Event{{opened, halfOpen, closed}, {closed, opened, halfOpen}, {halfOpen, closed, opened}} {
		var c changes
		for _, e := range order {
			c.add(e)
		}
		last, outage := c.all()
		assert.Equal(t, []policy.Event{closed, halfOpen, opened}, last)
		assert.Equal(t, opened.Time, outage.began)
		assert.Equal(t, closed.Time, outage.ended)
	}
}
