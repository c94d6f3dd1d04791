package loadertest

import (
	"context"
	"time"

	"github.com/vikstrous/dataloadgen"

	"github.com/gqlresilience/gqlresilience/policy"
)

// A Fetch gets many values in one call. A key that it returns no value for fails with
// [dataloadgen.ErrNotFound].
type Fetch[K comparable, V any] func(ctx context.Context, keys []K) (map[K]V, error)

// Loader batches and caches what the fields of one response load, and lets none of them fail
// the others.
type Loader[K comparable, V any] struct {
	batches *dataloadgen.Loader[K, V]
}

// NewLoader returns a loader for one response. Its batches run with ctx, the response's, and
// not with the context of an attempt of the field that came first.
func NewLoader[K comparable, V any](ctx context.Context, fetch Fetch[K, V]) *Loader[K, V] {
	return &Loader[K, V]{dataloadgen.NewMappedLoader(func(_ context.Context, keys []K) (map[K]V, error) {
		return fetch(ctx, keys)
	})}
}

// Load returns the key's value. It waits no longer than ctx, the field's, lasts, and a retry
// of the field gets a new answer.
func (l *Loader[K, V]) Load(ctx context.Context, key K) (V, error) {
	if policy.AttemptFromContext(ctx) > 1 {
		l.batches.Clear(key)
	}
	type result struct {
		value V
		err   error
	}
	load := l.batches.LoadThunk(ctx, key)
	loaded := make(chan result, 1)
	go func() {
		value, err := load()
		loaded <- result{value, err}
	}()
	select {
	case r := <-loaded:
		return r.value, r.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// UnderPolicy makes each batch one call under p, for fields that have no policy of their own.
func UnderPolicy[K comparable, V any](p *policy.Policy, fetch Fetch[K, V]) Fetch[K, V] {
	return func(ctx context.Context, keys []K) (map[K]V, error) {
		return policy.Execute(ctx, p, func(ctx context.Context) (map[K]V, error) {
			return fetch(ctx, keys)
		})
	}
}

// Within ends each batch after limit, for fields that have a policy of their own.
func Within[K comparable, V any](limit time.Duration, fetch Fetch[K, V]) Fetch[K, V] {
	return func(ctx context.Context, keys []K) (map[K]V, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return fetch(ctx, keys)
	}
}
