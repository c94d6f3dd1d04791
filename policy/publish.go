package policy

import "time"

// silent reports that nobody listens to events.
func (c *Call) silent() bool { return c.policy.registry.events.silent() }

// beginning is now if somebody asks for the end of every attempt and call, otherwise 0.
func (c *Call) beginning() instant {
	if c.policy.registry.events.counted.Load() {
		return now()
	}
	return 0
}

// publish completes the event and hands it to whoever listens.
func (c *Call) publish(e Event) {
	if c.silent() {
		return
	}
	e.Time, e.Policy, e.Source = time.Now(), c.policy.name, c.policy.source
	c.policy.registry.events.publish(c.caller, e)
}

// The events of a call.

// publishAttempt tells of an attempt that has begun while somebody listened.
func (c *Call) publishAttempt(a *Attempt) {
	c.publish(Event{
		Kind: EventAttempt, Attempt: int(a.number), Duration: now().since(a.began), Outcome: c.class.told(), Err: unmarked(c.err),
	})
}

// publishCall tells likewise of a call.
func (c *Call) publishCall() {
	e := Event{Kind: EventCall, Duration: now().since(c.began), Outcome: c.class.told(), Err: unmarked(c.err)}
	if c.answeredFor {
		e.Outcome = OutcomeFallback
	}
	if c.attempter != nil {
		e.Attempt = int(c.attempter.attempt().number)
	}
	c.publish(e)
}

func (c *Call) publishRetry(delay time.Duration) {
	c.publish(Event{Kind: EventRetry, Attempt: c.number, Delay: delay, Err: unmarked(c.err)})
}

func (c *Call) publishTimeout(timeUp, err *Error) {
	c.publish(Event{Kind: EventTimeout, Attempt: c.number, Timeout: c.limit(timeUp), Reason: err.Reason, Err: err})
}

// publishAbandoned tells of an attempt that was abandoned after limit, 0 if the caller had gone.
func (c *Call) publishAbandoned(limit time.Duration) {
	c.publish(Event{Kind: EventAbandoned, Attempt: c.number, Timeout: limit, Running: c.plan.abandoned.count()})
}

func (c *Call) publishFallback(err error, failed bool) {
	e := Event{Kind: EventFallback, Err: err}
	if failed {
		e.Reason = "failed"
	}
	c.publish(e)
}

// limit is how long the time was that is up. The operation's is not told.
func (c *Call) limit(timeUp *Error) time.Duration {
	switch timeUp {
	case c.policy.attemptTimeUp:
		return c.plan.timeout
	case c.policy.totalTimeUp:
		return c.plan.total
	default:
		return 0
	}
}

func (c *Call) publishChanges(changes []transition) {
	c.plan.breaker.publish(c.caller, changes, c.policy.name, c.policy.source)
}
