package loadertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"
	"github.com/vikstrous/dataloadgen"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

var errDown = errors.New("the dependency is down")

// dependency counts the calls that it gets, and answers each as answer says.
type dependency struct {
	answer func(ctx context.Context, call int) error // call is from 1; nil: at once

	mu      sync.Mutex
	batches [][]string // the keys of each call, sorted
	running int
}

func (d *dependency) call(ctx context.Context, keys []string) error {
	d.mu.Lock()
	d.batches = append(d.batches, slices.Sorted(slices.Values(keys)))
	call := len(d.batches)
	d.running++
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.running--
	}()
	if d.answer == nil {
		return nil
	}
	return d.answer(ctx, call)
}

// calls returns the keys of each call so far.
func (d *dependency) calls() [][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.batches)
}

func (d *dependency) underWay() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running
}

// sizes returns how many keys each call so far had.
func (d *dependency) sizes() []int {
	var sizes []int
	for _, keys := range d.calls() {
		sizes = append(sizes, len(keys))
	}
	return sizes
}

// fetch has a value for each key but "unknown".
func fetch[V any](d *dependency, value func(key string) V) Fetch[string, V] {
	return func(ctx context.Context, keys []string) (map[string]V, error) {
		if err := d.call(ctx, keys); err != nil {
			return nil, err
		}
		values := map[string]V{}
		for _, key := range keys {
			if key != "unknown" {
				values[key] = value(key)
			}
		}
		return values, nil
	}
}

func forecast(key string) *string { return new("forecast " + key) }

func quotes(key string) []*model.Quote { return []*model.Quote{{Service: "service " + key}} }

// after answers when a time has passed or the call is cancelled.
func after(d time.Duration) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error { return wait(ctx, d) }
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failingOnce fails the first call.
func failingOnce(_ context.Context, call int) error {
	if call == 1 {
		return errDown
	}
	return nil
}

func failing(context.Context, int) error { return errDown }

// newStub resolves a list of n items a little after everything else, so that the loads of its
// items join a batch that a field beside the list has begun.
func newStub(n int, slow, probe func(context.Context, *model.Item) (*string, error)) *testgraph.Stub {
	stub := &testgraph.Stub{}
	stub.QueryResolver.Item = func(_ context.Context, id string) (*model.Item, error) {
		return &model.Item{ID: id}, nil
	}
	stub.QueryResolver.Items = func(context.Context, *int) ([]*model.Item, error) {
		time.Sleep(time.Millisecond)
		items := make([]*model.Item, n)
		for i := range items {
			items[i] = &model.Item{ID: fmt.Sprint(i)}
		}
		return items, nil
	}
	stub.ItemResolver.Slow, stub.ItemResolver.Probe = slow, probe
	return stub
}

// recipe returns a server with the guide's loaders. Item.slow and Item.probe load with one
// loader.
func recipe(t *testing.T, schema schemaOf, d *dependency, n int, fields specs, options ...extension.Option) (*handler.Server, *policy.Registry) {
	t.Helper()
	resolver := &itemResolver{}
	stub := newStub(n, resolver.Slow, resolver.Slow)
	stub.ItemResolver.Quotes = resolver.Quotes
	stub.TickResolver.Detail = func(ctx context.Context, _ *model.Tick) (*string, error) {
		return LoadersFrom(ctx).Forecast.Load(ctx, "tick")
	}
	stub.SubscriptionResolver.Ticks = func(context.Context) (<-chan *model.Tick, error) {
		ticks := make(chan *model.Tick, 2)
		defer close(ticks)
		ticks <- &model.Tick{N: 1}
		ticks <- &model.Tick{N: 2}
		return ticks, nil
	}
	server, registry := serve(t, schema(stub), fields, options...)
	require.NoError(t, UseLoaders(server, registry, &Client{Quotes: fetch(d, quotes), Forecasts: fetch(d, forecast)}))
	return server, registry
}

// plain returns a server whose Item.slow and Item.probe load with the library's own loader.
// Its batches run under the context that within makes of the one that the library gives them.
func plain(t *testing.T, schema schemaOf, d *dependency, n int, fields specs, within func(context.Context) context.Context) (*handler.Server, *policy.Registry) {
	t.Helper()
	type loaderKey struct{}
	load := func(ctx context.Context, item *model.Item) (*string, error) {
		return ctx.Value(loaderKey{}).(*dataloadgen.Loader[string, *string]).Load(ctx, item.ID)
	}
	server, registry := serve(t, schema(newStub(n, load, load)), fields)
	server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		return next(context.WithValue(ctx, loaderKey{}, dataloadgen.NewMappedLoader(
			func(ctx context.Context, keys []string) (map[string]*string, error) {
				return fetch(d, forecast)(within(ctx), keys)
			})))
	})
	return server, registry
}

// asGiven leaves a batch the context that the library gives it.
func asGiven(ctx context.Context) context.Context { return ctx }

// specs are the policies of fields, by coordinate.
type specs map[string]policy.Spec

// carrier is the preset of all tests: three attempts at once, one slot, and a breaker that
// counts and does not open.
var carrier = policy.Spec{
	Timeout:        &policy.TimeoutSpec{Duration: new(time.Second)},
	Retry:          attempts(3),
	CircuitBreaker: counting,
	Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1)},
}

var counting = &policy.CircuitBreakerSpec{MinimumCalls: new(1000), Window: policy.CountWindow(1000)}

func attempts(n int) *policy.RetrySpec {
	return &policy.RetrySpec{Attempts: &n, Backoff: &policy.BackoffSpec{Delay: new(time.Duration(0))}}
}

func serve(t *testing.T, schema graphql.ExecutableSchema, fields specs, options ...extension.Option) (*handler.Server, *policy.Registry) {
	t.Helper()
	registry, err := policy.NewRegistry(policy.Config{
		Presets: map[string]policy.Spec{
			"carrier":    carrier,
			"dependency": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}, // the schema names it
		},
		IsClientError: func(err error) bool { return errors.Is(err, dataloadgen.ErrNotFound) },
	})
	require.NoError(t, err)
	server := testgraph.Serve(schema)
	for coordinate, spec := range fields {
		options = append(options, extension.WithField(coordinate, extension.Field{Spec: spec}))
	}
	server.Use(extension.New(registry, options...))
	return server, registry
}

type schemaOf = func(*testgraph.Stub) graphql.ExecutableSchema

// schemas put the policies of fields around gqlgen's field or around the resolver.
var schemas = map[string]schemaOf{"middleware": testgraph.NewSchema, "guards": testgraph.NewGuardedSchema}

// inEachSchema runs a test with each of them, in a bubble.
func inEachSchema(t *testing.T, test func(t *testing.T, schema schemaOf)) {
	t.Helper()
	for name, schema := range schemas {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, schema) })
		})
	}
}

// inEachMode runs a test once per way to run a field's attempts, in a bubble.
func inEachMode(t *testing.T, test func(t *testing.T, schema schemaOf, mode policy.TimeoutMode)) {
	t.Helper()
	for name, mode := range map[string]policy.TimeoutMode{"enforced": policy.Enforced, "cooperative": policy.Cooperative} {
		t.Run(name, func(t *testing.T) {
			inEachSchema(t, func(t *testing.T, schema schemaOf) { test(t, schema, mode) })
		})
	}
}

func timeout(d time.Duration, mode policy.TimeoutMode) *policy.TimeoutSpec {
	return &policy.TimeoutSpec{Duration: &d, Mode: &mode}
}

// counted returns what the breaker of that name has counted.
func counted(t *testing.T, registry *policy.Registry, breaker string) (calls, failures int) {
	t.Helper()
	b, ok := registry.CircuitBreaker(breaker)
	require.True(t, ok, "no breaker %q", breaker)
	stats := b.Stats()
	return stats.Calls, stats.Failures
}

// requireNoLoads checks that no goroutine of a loader runs.
func requireNoLoads(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	require.NotContains(t, string(stacks), "loadertest.(*Loader[")
	require.NotContains(t, string(stacks), "dataloadgen.(*Loader[")
}

// items are the ids of a list of n.
func items(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	slices.Sort(ids)
	return ids
}

// hangingOnce does not answer the first call before it is cancelled.
func hangingOnce(ctx context.Context, call int) error {
	if call == 1 {
		<-ctx.Done()
	}
	return ctx.Err()
}
