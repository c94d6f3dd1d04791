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

func TestWhyABreakerIsInItsState(t *testing.T) {
	start := time.Now()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	change := func(to policy.State, s int) []policy.Event {
		return []policy.Event{{To: to, Time: at(s), Reason: "as told"}}
	}
	for name, tc := range map[string]struct {
		last  []policy.Event
		state policy.State
		since int
		why   string
	}{
		"it was told":                            {change(policy.StateOpen, 1), policy.StateOpen, 1, "as told"},
		"nobody watched":                         {nil, policy.StateClosed, 0, ""},
		"it had opened before anybody watched":   {nil, policy.StateOpen, 0, ""},
		"time alone has half-opened it":          {change(policy.StateOpen, 1), policy.StateHalfOpen, 2, "the open duration is over: the next call is a probe"},
		"time alone has ended a probe":           {change(policy.StateHalfOpen, 1), policy.StateOpen, 2, "a probe took too long"},
		"it was tripped while open":              {change(policy.StateOpen, 1), policy.StateOpen, 2, "tripped again"},
		"it was reset while closed":              {change(policy.StateClosed, 1), policy.StateClosed, 2, ""},
		"that it has opened is still on its way": {change(policy.StateClosed, 1), policy.StateOpen, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.why, why(tc.last, policy.CircuitBreakerStats{State: tc.state, Since: at(tc.since)}))
		})
	}
}
