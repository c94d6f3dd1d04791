package policy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// grace is how long an attempt that was cancelled may take to return before it is abandoned.
const grace = 10 * time.Millisecond

// attemptContext is the context of one attempt. It knows which gates the attempt has passed,
// so that a call under the same policy inside the attempt does not pass them again.
type attemptContext struct {
	context.Context
	number int
	outer  *attemptContext // the attempt that this one runs inside of, if any

	breaker *CircuitBreaker
	limiter *RateLimiter
	token   reservation // of limiter
	over    atomic.Bool // breaker and limiter are held no longer

	bulkhead *Bulkhead
	slot     atomic.Bool // of bulkhead; an abandoned attempt may hold it for longer than the rest

	budget *Budget // of the operation that the attempt is part of, if it has one
	turn   bool    // the attempt is one of those that budget lets run at once

	abandoned bool // set and read by the caller's goroutine alone
}

type attemptKey struct{}

// Value finds the attempt itself.
func (a *attemptContext) Value(key any) any {
	if _, ok := key.(attemptKey); ok {
		return a
	}
	return a.Context.Value(key)
}

// AttemptFromContext returns the number, from 1, of the attempt that ctx belongs to, and 0
// outside of one. A resolver uses it to bypass a cache or a dataloader on a retry.
func AttemptFromContext(ctx context.Context) int {
	if a, ok := ctx.Value(attemptKey{}).(*attemptContext); ok {
		return a.number
	}
	return 0
}

// holdsBreaker reports whether the attempt, or one around it, runs with b's permit.
func (a *attemptContext) holdsBreaker(b *CircuitBreaker) bool {
	return a.anyAround(func(o *attemptContext) bool { return o.breaker == b && !o.over.Load() })
}

// holdsSlot reports whether the attempt, or one around it, has a slot of b.
func (a *attemptContext) holdsSlot(b *Bulkhead) bool {
	return a.anyAround(func(o *attemptContext) bool { return o.bulkhead == b && o.slot.Load() })
}

// holdsToken reports whether the attempt, or one around it, runs with l's token.
func (a *attemptContext) holdsToken(l *RateLimiter) bool {
	return a.anyAround(func(o *attemptContext) bool { return o.limiter == l && !o.over.Load() })
}

// hasTurn reports whether an attempt around this one, or it itself, is one of those that b lets
// run.
func (a *attemptContext) hasTurn(b *Budget) bool {
	return a.anyAround(func(o *attemptContext) bool { return o.turn && o.budget == b && !o.over.Load() })
}

func (a *attemptContext) anyAround(match func(*attemptContext) bool) bool {
	for ; a != nil; a = a.outer {
		if match(a) {
			return true
		}
	}
	return false
}

// releaseSlot gives the slot back, if the attempt still has one.
func (a *attemptContext) releaseSlot() {
	if a.slot.CompareAndSwap(true, false) {
		a.bulkhead.release()
	}
}

// refund takes back the limiter's token, if the attempt has taken one, for it is not made.
func (a *attemptContext) refund() {
	if a.limiter != nil {
		a.limiter.refundAt(time.Now(), a.token)
	}
}

// flight is an attempt on a goroutine of its own.
type flight struct {
	landed chan struct{} // closed when value, err and raised are final
	value  any
	err    error
	raised bool // err is a panic to be raised again

	mu sync.Mutex
	// All below is guarded by mu.
	over      bool
	afterward func() // what is to be done when an abandoned attempt ends
}

// launch runs fn on a goroutine and waits until it has returned or, once ctx has ended, for a
// moment more. It returns nil if the attempt was abandoned; afterward, made by abandon, is
// then called when it ends.
func launch(ctx context.Context, fn func(context.Context) (any, error), abandon func() (afterward func())) *flight {
	f := &flight{landed: make(chan struct{})}
	go f.run(ctx, fn)
	select {
	case <-f.landed:
		return f
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-f.landed:
		return f
	case <-timer.C:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return f
	}
	f.afterward = abandon()
	return nil
}

func (f *flight) run(ctx context.Context, fn func(context.Context) (any, error)) {
	returned := false
	defer func() {
		if !returned {
			if r := recover(); r != nil {
				f.err, f.raised = newPanicError(r), true
			} else {
				f.err = errGoexit
			}
		}
		f.land()
	}()
	f.value, f.err = fn(ctx)
	returned = true
}

func (f *flight) land() {
	f.mu.Lock()
	f.over = true
	afterward := f.afterward
	f.mu.Unlock()
	if afterward != nil {
		afterward()
	}
	close(f.landed)
}
