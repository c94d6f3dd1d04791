package extension_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

func TestAFieldThatPlansForMoreTimeThanAnOperationHasIsWarnedAboutAtBoot(t *testing.T) {
	timed := func(d time.Duration) *policy.TimeoutSpec {
		return &policy.TimeoutSpec{Duration: &d, Mode: new(policy.Cooperative)}
	}
	queue := &policy.BulkheadSpec{MaxQueue: new(3)}
	twice := &policy.RetrySpec{Attempts: new(2), Backoff: &policy.BackoffSpec{Delay: new(time.Second)}}
	endless := &policy.RetrySpec{Attempts: new(policy.Unlimited)}

	for _, row := range []struct {
		behaviour, coordinate string
		spec                  policy.Spec
		want                  string
	}{
		{"attempts and waits that fit", "Query.text", policy.Spec{Timeout: timed(time.Second), Retry: twice}, ""},
		{"a nanosecond more", "Query.text", policy.Spec{Timeout: timed(time.Second + 1), Retry: twice},
			"may take 3.000000002s, but the operation's budget is 3s: what comes last is cut off"},
		{"a mutation that is not retried", "Mutation.save", policy.Spec{Timeout: timed(3 * time.Second), Retry: twice}, ""},
		{"a queue without end", "Query.text", policy.Spec{Timeout: timed(time.Second), Bulkhead: queue}, ""},
		{"a timeout too long behind one", "Query.text", policy.Spec{Timeout: timed(4 * time.Second), Bulkhead: queue},
			"may take 4s and more, but the operation's budget is 3s"},
		{"attempts without end, which the operation ends", "Query.text", policy.Spec{Timeout: timed(time.Second), Retry: endless}, ""},
		{"one attempt without a timeout, which the operation ends", "Query.text", policy.Spec{Bulkhead: queue}, ""},
		{"retries without a timeout", "Query.text", policy.Spec{Retry: twice},
			"may take the whole operation's budget of 3s with its first attempt, so that no retry comes: it has no timeout.duration"},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			logger, lines := logs()
			e := extension.New(newRegistry(t, nil), extension.WithLogger(logger),
				extension.WithOperationBudget(extension.Budget{Timeout: 3 * time.Second}),
				extension.WithField(row.coordinate, extension.Field{Spec: row.spec}))
			require.Empty(t, use(t, testgraph.NewSchema(&testgraph.Stub{}), e))

			var warnings []string
			for _, line := range lines() {
				if strings.Contains(line, "budget") {
					warnings = append(warnings, line)
				}
			}
			if row.want == "" {
				assert.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			assert.Equal(t, `level=WARN msg="gqlresilience: WithField(\"`+row.coordinate+`\"): `+row.want+`"`, warnings[0])
		})
	}
}

func TestWithoutATimeInTheBudgetNoTimeIsTooLong(t *testing.T) {
	for _, options := range [][]extension.Option{nil, {extension.WithOperationBudget(extension.Budget{Retries: new(1)})}} {
		lines := defaultLogs(t)
		require.Empty(t, use(t, testgraph.NewSchema(&testgraph.Stub{}), planned(t, options...)))
		assert.NotContains(t, strings.Join(lines(), "\n"), "budget")
	}
}

func TestAWarningOfAnAnnotatedFieldHasItsPlace(t *testing.T) {
	e := extension.New(newRegistry(t, nil), extension.WithOperationBudget(extension.Budget{Timeout: time.Second}))
	_, warnings, err := e.PlanSchema(loadShop(t, `type Query { order: Int @resilience(timeout: "2s") }`))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"shop.graphqls:1: Query.order: may take 2.01s, but the operation's budget is 1s: what comes last is cut off",
	}, warnings)
}

func TestOnlyFieldsThatAreKnownToPassAPolicyAreSaidToTakeLong(t *testing.T) {
	e := extension.New(newRegistry(t, nil), extension.WithOperationBudget(extension.Budget{Timeout: time.Second}))
	_, warnings, err := e.PlanSchema(loadShop(t, `
type Query { order: Order }
type Order @resilience(timeout: "2s") { id: ID, name: String, quotes: Int @resilience(timeout: "3s") }`))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"shop.graphqls:3: Order.quotes: may take 3.01s, but the operation's budget is 1s: what comes last is cut off",
	}, warnings)
}

func TestFieldsThatTakeLongByTheirTypesAnnotationAreWarnedAboutAtOnce(t *testing.T) {
	budget := extension.WithOperationBudget(extension.Budget{Timeout: 999 * time.Millisecond})
	warnings := warningsOf(t, testgraph.NewGuardedSchema(&testgraph.Stub{}), budget)
	require.Len(t, warnings, 3, "the others are annotated themselves")
	assert.Equal(t, lineOf(t, "type Guarded")+" (type Guarded): Guarded.computed, Guarded.resolved: "+
		"may take 1.01s, but the operation's budget is 999ms: what comes last is cut off", warnings[0])
}

func TestAFilesNameIsNotTakenForAFields(t *testing.T) {
	s, err := gqlparser.LoadSchema(&ast.Source{Name: "resilience.graphqls", Input: schema.SDL},
		&ast.Source{Name: "Query.order.graphqls", Input: `type Query { order: Int! @resilience(timeout: "1s") }`})
	require.NoError(t, err)
	_, warnings, err := extension.New(newRegistry(t, nil)).PlanSchema(s)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "Query.order.graphqls:1: Query.order: non-null")
}
