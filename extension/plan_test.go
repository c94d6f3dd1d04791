package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// planned returns an extension whose fields have something of everything.
func planned(t testing.TB, options ...extension.Option) *extension.Extension {
	t.Helper()
	registry, err := policy.NewRegistry(policy.Config{
		Defaults: policy.Spec{Retry: &policy.RetrySpec{Backoff: &policy.BackoffSpec{MaxDelay: new(time.Second)}}},
		Presets: presets{
			"dependency": {
				Timeout:        &policy.TimeoutSpec{Duration: new(2 * time.Second)},
				Retry:          &policy.RetrySpec{Attempts: new(2)},
				CircuitBreaker: &policy.CircuitBreakerSpec{},
			},
			"export": {
				Bulkhead:  &policy.BulkheadSpec{MaxQueue: new(3)},
				RateLimit: &policy.RateLimitSpec{Limit: new(5), Interval: new(time.Second), MaxWait: new(time.Second)},
				Fallback:  &policy.FallbackSpec{Func: nothing, FallbackIf: isDown},
			},
		},
	})
	require.NoError(t, err)
	return extension.New(registry, append(options,
		underPreset("Mutation.save", "dependency"),
		extension.WithField("Item.quotes", extension.Field{Preset: "dependency", Spec: policy.Spec{
			Retry: &policy.RetrySpec{Enabled: new(false)},
		}}),
		underPreset("Query.strictText", "export"),
		extension.WithField("Query.text", extension.Field{Spec: policy.Spec{
			Timeout: &policy.TimeoutSpec{Total: new(time.Minute)},
			Retry:   &policy.RetrySpec{Attempts: new(policy.Unlimited)},
		}}),
		extension.WithStale("Query.annotated", extension.Stale{
			MaxAge: time.Hour, MaxEntries: 1, Key: func(context.Context, map[string]any) (string, bool) { return "", true },
		}, extension.When(policy.ErrCircuitOpen)),
		extension.WithFallback("Query.annotated", noItems),
		extension.WithFallback("Query.timed", noText, extension.When(policy.ErrTimeout, errDown), extension.WhenFunc(isDown)),
	)...)
}

func nothing(context.Context, error) (any, error)           { return nil, nil }
func noText(context.Context, error) (*string, error)        { return nil, nil }
func noItems(context.Context, error) ([]*model.Item, error) { return nil, nil }
func isDown(err error) bool                                 { return errors.Is(err, errDown) }

// unnumbered is text without the numbers of the schema's lines.
func unnumbered(text string) string { return schemaLine.ReplaceAllString(text, "schema.graphqls:N") }

var schemaLine = regexp.MustCompile(`schema\.graphqls:\d+`)

const plannedText = `
FIELD             POLICY            HOOKED IN   TIMEOUT                ATTEMPTS   FALLBACK         WORST CASE
Guarded.computed  Guarded.computed  middleware  1s Enforced            1          -                1.01s
Guarded.resolved  Guarded.resolved  guard       1s Enforced            1          -                1.01s
Item.quotes       dependency        guard       2s Enforced            1          -                2.01s
Mutation.book     dependency        guard       2s Cooperative         2          -                4.2s (5s)
Mutation.save     dependency        guard       2s Cooperative         1          -                2s
Query.annotated   dependency        guard       1.5s Enforced          2          WithStale        3.22s (4.01s)
Query.strictText  export            guard       -                      1          preset "export"  no limit
Query.text        Query.text        guard       1m0s in all, Enforced  unlimited  -                1m0.01s
Query.timed       Query.timed       guard       500ms Enforced         1          WithFallback     510ms

Worst case in brackets: where the dependency asks for longer waits, by Retry-After.

Policies of the fields' own
  timeout.duration  1s  schema.graphqls:N (type Guarded)
  Guarded.computed, by schema.graphqls:N (type Guarded)
  Guarded.resolved, by schema.graphqls:N (type Guarded)

Policy dependency
  timeout.duration        2s          preset "dependency"
  retry.attempts          2           preset "dependency"
  retry.backoff.maxDelay  1s          Config.Defaults
  circuitBreaker.name     dependency  preset "dependency"
  Item.quotes, by WithField("Item.quotes")
    retry  off
  Mutation.book, by schema.graphqls:N
  Mutation.save, by WithField("Mutation.save")
    no retry  not idempotent
  Query.annotated, by schema.graphqls:N
    timeout.duration  1.5s                                   schema.graphqls:N
    fallback          the last good value, up to 1h0m0s old  WithStale("Query.annotated")
                      if the circuit is open
    fallback          extension_test.noItems                 WithFallback("Query.annotated")

Policy export
  bulkhead.name       export  preset "export"
  bulkhead.maxQueue   3       preset "export"
  rateLimit.name      export  preset "export"
  rateLimit.limit     5       preset "export"
  rateLimit.interval  1s      preset "export"
  rateLimit.maxWait   1s      preset "export"
  Query.strictText, by WithField("Query.strictText")
    fallback             extension_test.nothing             preset "export"
                         if extension_test.isDown
    failure takes along  the whole response
    no limit             attempts without timeout.duration

Policy Query.text
  timeout.total           1m0s       WithField("Query.text")
  retry.attempts          unlimited  WithField("Query.text")
  retry.backoff.maxDelay  1s         Config.Defaults
  Query.text, by WithField("Query.text")

Policy Query.timed
  timeout.duration  500ms  schema.graphqls:N
  Query.timed, by schema.graphqls:N
    fallback  extension_test.noText       WithFallback("Query.timed")
              if the operation timed out
              or the dependency is down
              or extension_test.isDown
`

func TestThePlanTellsWhatEachFieldHasComeTo(t *testing.T) {
	e := planned(t)
	require.Empty(t, use(t, testgraph.NewGuardedSchema(&testgraph.Stub{}), e))

	text := e.Plan().String()

	assert.Equal(t, plannedText, "\n"+unnumbered(text))
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 120, line)
	}
}

func TestWithoutGuardsTheMiddlewareIsHookedIn(t *testing.T) {
	e := planned(t)
	require.Empty(t, use(t, testgraph.NewSchema(&testgraph.Stub{}), e))

	for _, f := range e.Plan().Fields {
		assert.Equal(t, "middleware", f.HookedIn, f.Coordinate)
	}
}

func TestBeforeAnyUseThePlanIsEmpty(t *testing.T) {
	plan := planned(t).Plan()

	assert.Equal(t, extension.Plan{}, plan)
	assert.Equal(t, "No field has a policy.\n", plan.String())
	encoded, err := json.Marshal(plan)
	require.NoError(t, err)
	assert.Equal(t, `{"fields":[]}`, string(encoded))
}

func TestThePlanSaysWhatAnOperationMayTake(t *testing.T) {
	e := planned(t, extension.WithOperationBudget(extension.Budget{
		Timeout: 3 * time.Minute, Header: "X-Timeout", Retries: new(0), Concurrency: 20,
	}))
	require.Empty(t, use(t, testgraph.NewSchema(&testgraph.Stub{}), e))

	text, _, _ := strings.Cut(e.Plan().String(), "\n")
	assert.Equal(t, "Budget of an operation: 3m0s, or less by header X-Timeout, retries: 0, attempts at once: 20", text)
	encoded, err := json.Marshal(e.Plan())
	require.NoError(t, err)
	assert.Contains(t, string(encoded), `{"budget":{"timeout":"3m0s","header":"X-Timeout","retries":0,"concurrency":20},"fields":[{`)
}

func TestThePlanTellsAFieldOfSeveralServersOnceIfItIsTheSame(t *testing.T) {
	stub := &testgraph.Stub{}
	shared := extension.New(newRegistry(t, nil))
	original := testgraph.NewSchema(stub).Schema()
	for range 2 {
		require.Empty(t, use(t, hook{}.withSchema(stub, variantOf(t, original)), shared))
	}
	once := shared.Plan()

	require.Empty(t, use(t, hook{}.withSchema(stub, variantOf(t, original, `timeout: "500ms"`, `timeout: "400ms"`)), shared))

	var coordinates, more []string
	for _, f := range once.Fields {
		coordinates = append(coordinates, f.Coordinate)
	}
	assert.Equal(t, []string{
		"Guarded.computed", "Guarded.resolved", "Mutation.book", "Query.annotated", "Query.timed",
	}, coordinates)
	var timeouts []time.Duration
	for _, f := range shared.Plan().Fields {
		more = append(more, f.Coordinate)
		if f.Coordinate == "Query.timed" {
			timeouts = append(timeouts, f.Description.Timeout)
		}
	}
	assert.Equal(t, append(coordinates, "Query.timed"), more)
	assert.ElementsMatch(t, []time.Duration{400 * time.Millisecond, 500 * time.Millisecond}, timeouts)
	for range 20 { // maps of servers have no order
		require.Equal(t, shared.Plan().String(), shared.Plan().String())
	}
}

func TestThePlanCountsAttemptsOfTheOperationsThatAFieldCanBePartOf(t *testing.T) {
	registry := newRegistry(t, presets{"twice": {Retry: &policy.RetrySpec{Attempts: new(2)}}})
	plan, _, err := extension.New(registry).PlanSchema(loadShop(t, `
type Query { order: Order @resilience(preset: "twice") found: Found self: Query }
type Mutation { pay: Receipt @resilience(preset: "twice") book: Order @resilience(preset: "twice", idempotent: true) again: Query }
type Subscription { paid: Receipt @resilience(preset: "twice") }
union Found = Line | Order
type Order { lines: [Line!]! @resilience(preset: "twice") }
type Line { stock: Int @resilience(preset: "twice", idempotent: true) }
type Receipt { total: Int @resilience(preset: "twice") }
type Entity { find: Order @resilience(preset: "twice") }
`))
	require.NoError(t, err)

	attempts := map[string][2]int{}
	for _, f := range plan.Fields {
		attempts[f.Coordinate] = [2]int{f.QueryAttempts, f.MutationAttempts}
	}
	assert.Equal(t, map[string][2]int{
		"Query.order":       {2, 1}, // by Mutation.again
		"Mutation.pay":      {0, 1},
		"Mutation.book":     {0, 2},
		"Subscription.paid": {0, 1},
		"Order.lines":       {2, 1},
		"Line.stock":        {2, 2},
		"Receipt.total":     {0, 1},
		"Entity.find":       {2, 0}, // as federation calls it
	}, attempts)
	assert.Regexp(t, `Order\.lines +twice +- +2 \(1\) +- +no limit\n`, plan.String())
	assert.Contains(t, plan.String(), "Attempts in brackets: in mutations and subscriptions.\n")
}
