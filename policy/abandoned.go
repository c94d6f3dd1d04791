package policy

import (
	"context"
	"sync"
	"sync/atomic"
)

// abandonedAttempts counts attempts that were abandoned and still run: those of one policy
// name, or of a whole registry.
type abandonedAttempts struct {
	running atomic.Int64 // changed under mu

	mu   sync.Mutex
	idle chan struct{} // closed when running falls to 0; nil while nobody waits; guarded by mu
}

func (a *abandonedAttempts) add() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running.Add(1)
}

func (a *abandonedAttempts) done() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running.Add(-1) == 0 && a.idle != nil {
		close(a.idle)
		a.idle = nil
	}
}

func (a *abandonedAttempts) count() int { return int(a.running.Load()) }

func (a *abandonedAttempts) wait(ctx context.Context) error {
	a.mu.Lock()
	if a.running.Load() == 0 {
		a.mu.Unlock()
		return nil
	}
	if a.idle == nil {
		a.idle = make(chan struct{})
	}
	idle := a.idle
	a.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Abandoned returns how many abandoned attempts are still running.
func (r *Registry) Abandoned() int { return r.abandoned.count() }

// Wait returns when no abandoned attempt is running any more, for an orderly shutdown, or
// with the context's cause when ctx ends first. Attempts that are not abandoned are not
// waited for.
func (r *Registry) Wait(ctx context.Context) error { return r.abandoned.wait(ctx) }
