package extension_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestUseTellsHowManyCallsRetriesUnderRetriesMayMake(t *testing.T) {
	es := testgraph.NewGuardedSchema(&testgraph.Stub{})
	const limit = "; WithOperationBudget can limit the retries"
	for name, row := range map[string]struct {
		options []extension.Option
		want    []string
	}{
		"under a list": {[]extension.Option{retried("Query.items", 2), retried("Item.quotes", 3)},
			[]string{`WithField("Item.quotes"): up to 3 attempts, for each item under Query.items, with up to 2: one query with 100 such items in all may make 302 calls` + limit}},
		"under one": {[]extension.Option{retried("Query.item", 2), retried("Item.quotes", 3)},
			[]string{`WithField("Item.quotes"): up to 3 attempts, under Query.item, with up to 2: one query may make 5 calls` + limit}},
		"under a list in between": {[]extension.Option{retried("Query.item", 4), retried("Quote.eta", 2)},
			[]string{`WithField("Quote.eta"): up to 2 attempts, for each item under Query.item, with up to 4: one query with 100 such items in all may make 204 calls` + limit}},
		"under itself": {[]extension.Option{retried("Detail.related", 2)},
			[]string{`WithField("Detail.related"): up to 2 attempts, for each item under Detail.related, with up to 2: one query with 100 such items in all may make 202 calls` + limit}},
		"a batch, which is one call": {[]extension.Option{retried("Query.items", 2), retried("Item.stock", 3)},
			[]string{`WithField("Item.stock"): up to 3 attempts, under Query.items, with up to 2: one query may make 5 calls` + limit}},
		"without end": {[]extension.Option{retried("Query.item", policy.Unlimited), retried("Item.quotes", 3)},
			[]string{`WithField("Item.quotes"): up to 3 attempts, under Query.item, with up to unlimited: one query may make unlimited calls` + limit}},
		"one without retries":            {[]extension.Option{onlyTimed("Query.items"), retried("Item.quotes", 3)}, nil},
		"under one without retries":      {[]extension.Option{retried("Query.items", 2), onlyTimed("Item.quotes")}, nil},
		"beside each other":              {[]extension.Option{retried("Query.text", 2), retried("Query.items", 2)}, nil},
		"under what is not retried then": {[]extension.Option{extension.WithField("Mutation.create", extension.Field{Spec: retrying(policy.Spec{}, 2), Idempotent: new(true)}), retried("Item.quotes", 2)}, nil},
		"with a budget for retries": {[]extension.Option{retried("Query.items", 2), retried("Item.quotes", 3),
			extension.WithOperationBudget(extension.Budget{Retries: new(10)})}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, row.want, warningsOf(t, es, row.options...))
		})
	}
}

func TestCallsOfNestedRetriesAreCountedByItemsAndForABatchByList(t *testing.T) {
	const sdl = `
directive @goField(batch: Boolean) on FIELD_DEFINITION
type Query { orders: [Order] @resilience(preset: "twice") }
type Order { lines: [Line] grid: [[Cell]] buyer: Buyer }
type Line { stock: Int @resilience(preset: "twice") quotes: Int @resilience(preset: "twice") @goField(batch: true) }
type Cell { stock: Int @resilience(preset: "twice") @goField(batch: true) }
type Buyer { score: Int @resilience(preset: "twice") @goField(batch: true) }
type Mutation { book: [Booking] @resilience(preset: "twice", idempotent: true) }
type Booking { label: Int @resilience(preset: "twice", idempotent: true) @goField(batch: true) }`
	registry := newRegistry(t, presets{"twice": {Retry: &policy.RetrySpec{Attempts: new(2)}}})
	_, warnings, err := extension.New(registry).PlanSchema(loadShop(t, sdl))
	require.NoError(t, err)
	const (
		byItem = "up to 2 attempts, for each item under Query.orders, with up to 2: one query with 100 such items in all may make 202 calls; WithOperationBudget can limit the retries"
		once   = "up to 2 attempts, under Mutation.book, with up to 2: one query may make 4 calls; WithOperationBudget can limit the retries"
	)
	require.Equal(t, []string{
		"shop.graphqls:9: Booking.label: " + once,
		"shop.graphqls:7: Buyer.score: " + byItem,
		"shop.graphqls:6: Cell.stock: " + byItem,
		"shop.graphqls:5: Line.quotes, Line.stock: " + byItem,
	}, warnings)
}

func TestRetriesThatOnlyMutationsOrSubscriptionsReachAreNone(t *testing.T) {
	const sdl = `
type Query { order: Order }
type Mutation { book: Payload }
type Subscription { booked: Payload }
type Payload { receipt: Receipt @resilience(preset: "twice") receipts: [Receipt] @resilience(preset: "twice", idempotent: true) order: Order }
type Receipt { total: Int @resilience(preset: "twice") tax: Int @resilience(preset: "twice", idempotent: true) }
type Order { price: Int @resilience(preset: "twice") }`
	registry := newRegistry(t, presets{"twice": {Retry: &policy.RetrySpec{Attempts: new(2)}}})
	_, warnings, err := extension.New(registry, retried("Payload.order", 2)).PlanSchema(loadShop(t, sdl))
	require.NoError(t, err)
	require.Equal(t, []string{
		`WithField("Payload.order"): retry has no effect: the field is not idempotent`,
		"shop.graphqls:6: Receipt.tax: up to 2 attempts, for each item under Payload.receipts, with up to 2: " +
			"one query with 100 such items in all may make 202 calls; WithOperationBudget can limit the retries",
	}, warnings)
}
