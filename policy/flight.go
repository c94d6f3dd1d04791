package policy

import "sync"

// flight is an attempt on a goroutine of its own.
type flight struct {
	attempter Attempter
	watcher   *Watcher
	apart     func() bool // ends the watch over a context other than that of the watcher's; nil: it is the same

	// landed is done when the attempt has returned, or is given up.
	landed sync.WaitGroup
	err    error // only to be read, as raised, if the attempt was not given up, or is over
	raised bool  // err is a panic to be raised again
	gaveUp bool  // set before landed is done

	// All below is guarded by the watcher's mu.
	over           bool    // err and raised are final
	within         bool    // its caller's context is the one that the watcher watches
	giveUp         instant // when it is given up
	next, previous *flight // in the watcher's list, until it has landed
	afterward      func()  // what is to be done when an abandoned attempt ends
}

// launch makes the attempt on a goroutine and waits until it has returned or, once its context has
// ended, for a moment more.
func (c *Call) launch() {
	w := c.Watcher
	if w == nil {
		w = &Watcher{stopped: true}
	}
	f := &flight{attempter: c.attempter, watcher: w}
	f.landed.Add(1)
	w.watch(f, c.caller, c.held.attempt.deadline)
	go f.run()
	f.landed.Wait()
	if f.apart != nil {
		f.apart()
	}
	if f.gaveUp {
		c.held.attempt.decide() // while it is under way: once it has landed, nobody could tell what had ended it
		if w.abandon(f, c.held.attempt, c.policy) {
			c.abandoned = true
			return
		}
	}
	c.err, c.raised = f.err, f.raised
}

func (f *flight) run() {
	returned := false
	defer func() {
		if !returned {
			if r := recover(); r != nil {
				f.err, f.raised = newPanicError(r), true
			} else {
				f.err = errGoexit
			}
		}
		f.watcher.land(f)
	}()
	f.err = f.attempter.Try()
	returned = true
}
