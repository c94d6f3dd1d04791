package policy_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

var errDown = errors.New("carrier down")

// newPolicy makes a policy of spec alone, in a registry of its own.
func newPolicy(t testing.TB, spec policy.Spec) (*policy.Policy, *policy.Registry) {
	t.Helper()
	registry := newRegistry(t, policy.Config{})
	p, err := registry.New("carrier", spec)
	require.NoError(t, err)
	return p, registry
}

func newRegistry(t testing.TB, config policy.Config) *policy.Registry {
	t.Helper()
	registry, err := policy.NewRegistry(config)
	require.NoError(t, err)
	return registry
}

// compose makes the policy of one composition.
func compose(t testing.TB, registry *policy.Registry, c policy.Composition) *policy.Policy {
	t.Helper()
	policies, err := registry.Compose(c)
	require.NoError(t, err)
	require.Len(t, policies, 1)
	return policies[0]
}

// layer is what a field's own settings look like.
func layer(origin string, spec policy.Spec) []policy.Layer {
	return []policy.Layer{{Origin: origin, Spec: spec}}
}

func succeed(context.Context) (string, error) { return "quote", nil }

func fail(context.Context) (string, error) { return "", errDown }

// failWith returns a function that fails with err.
func failWith(err error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return "", err }
}

// obey runs until its context ends, and returns the context's error.
func obey(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// deaf runs for d, whatever becomes of its context.
func deaf(d time.Duration) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		time.Sleep(d)
		return "late", nil
	}
}

// run executes fn and returns only the error.
func run(ctx context.Context, p *policy.Policy, fn func(context.Context) (string, error)) error {
	_, err := policy.Execute(ctx, p, fn)
	return err
}

// times runs fn under p n times, one after the other.
func times(n int, p *policy.Policy, fn func(context.Context) (string, error)) {
	for range n {
		_, _ = policy.Execute(context.Background(), p, fn)
	}
}

// script returns a function that fails with each error in turn and then succeeds, and tells
// when it was called.
func script(errs ...error) (fn func(context.Context) (string, error), calls *log) {
	calls = &log{}
	return func(context.Context) (string, error) {
		n := calls.add()
		if n <= len(errs) && errs[n-1] != nil {
			return "", errs[n-1]
		}
		return "quote", nil
	}, calls
}

// log remembers when it was added to.
type log struct {
	mu    sync.Mutex
	start time.Time
	at    []time.Duration
}

func (l *log) add() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start.IsZero() {
		l.start = time.Now()
	}
	l.at = append(l.at, time.Since(l.start))
	return len(l.at)
}

func (l *log) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.at)
}

// times are the moments since the first.
func (l *log) times() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]time.Duration(nil), l.at...)
}

// recorder is a subscriber that keeps what it gets.
type recorder struct {
	mu     sync.Mutex
	events []policy.Event
}

func record(registry *policy.Registry) *recorder {
	r := &recorder{}
	registry.Subscribe(func(_ context.Context, e policy.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	return r
}

func (r *recorder) all() []policy.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]policy.Event(nil), r.events...)
}

func (r *recorder) kinds() []policy.EventKind {
	kinds := []policy.EventKind{}
	for _, e := range r.all() {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func (r *recorder) of(kind policy.EventKind) []policy.Event {
	var found []policy.Event
	for _, e := range r.all() {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// asPolicyError returns the *policy.Error in err's chain.
func asPolicyError(t testing.TB, err error) *policy.Error {
	t.Helper()
	var e *policy.Error
	require.ErrorAs(t, err, &e)
	return e
}

// timeoutSpec limits each attempt to d, in the given mode.
func timeoutSpec(d time.Duration, mode policy.TimeoutMode) *policy.TimeoutSpec {
	return &policy.TimeoutSpec{Duration: new(d), Mode: new(mode)}
}

// retrySpec makes attempts, with exactly delay between them.
func retrySpec(attempts int, delay time.Duration) *policy.RetrySpec {
	return &policy.RetrySpec{Attempts: new(attempts), Backoff: &policy.BackoffSpec{
		Delay: new(delay), Factor: new(1.0), MaxDelay: new(max(delay, time.Minute)),
	}}
}

// bothModes runs a test in each timeout mode.
func bothModes(t *testing.T, test func(t *testing.T, mode policy.TimeoutMode)) {
	t.Helper()
	t.Run("cooperative", func(t *testing.T) { test(t, policy.Cooperative) })
	t.Run("enforced", func(t *testing.T) { test(t, policy.Enforced) })
}

// attempted is an attempt as an adapter makes it.
type attempted struct {
	policy.Attempt
	fn    func(context.Context) (any, error)
	value any
}

func (a *attempted) Try() (err error) {
	a.value, err = a.fn(a)
	return err
}

type maker struct{}

func (maker) MakeAttempt(_ context.Context, _, function any, _ policy.Attempter) policy.Attempter {
	return &attempted{fn: function.(func(context.Context) (any, error))}
}

// callOf is a call of fn as an adapter makes it.
func callOf(fn func(context.Context) (any, error)) *policy.Call {
	return &policy.Call{Maker: maker{}, Function: fn}
}
