package policy

import "context"

// Attempter is one attempt at a call, as an adapter makes it: a pointer to a struct that embeds
// an [Attempt] and keeps what the function has returned. A policy uses no value of its call.
type Attempter interface {
	// Try calls the function, once, with the Attempt or a context within it. An error that is or wraps
	// a [*PanicError] counts as a panic of the function.
	Try() error

	attempt() *Attempt // which only an embedded Attempt has
}

// Maker makes the attempts of calls.
type Maker interface {
	// MakeAttempt returns a new attempt, never nil, at the call that is made with ctx. State and
	// function are the [Call]'s; last is the attempt before, nil at first.
	MakeAttempt(ctx context.Context, state, function any, last Attempter) Attempter
}

// Call is one run of a function as adapters, such as the gqlgen extension, make it. All other
// code calls [Execute]. It is used once, and may lie on its caller's stack: nothing that outlives Run
// points to it.
type Call struct {
	// Maker makes each attempt that the gates have let pass, so that a rejection costs none. It must
	// not be nil. State and Function are for it alone, and spare it a closure over them.
	Maker           Maker
	State, Function any

	// Budget is what the operation that the call belongs to has left. nil: that of the attempt
	// that the call is made in, if any.
	Budget *Budget

	// Watcher waits for the attempts of many calls. nil: the call has one of its own.
	Watcher *Watcher

	// NoRetry makes the first attempt the only one.
	NoRetry bool

	// AbandonEnds makes an abandoned attempt the last: no further attempt and no fallback
	// runs beside it, and Run returns its timeout at once.
	AbandonEnds bool

	state
}

// Last returns the last attempt that Maker has made, nil if there was none, also after a function of
// the user's has panicked.
func (c *Call) Last() Attempter { return c.attempter }

// Own reports whether the error that Run has returned, or that there is none, is what the last
// attempt's Try did. Otherwise what the attempt keeps must not be looked at: it may still be running.
func (c *Call) Own() bool { return c.own }

// Answered returns the error that the fallback has answered for, nil if it has not.
func (c *Call) Answered() error {
	if c.answeredFor {
		return c.err
	}
	return nil
}
