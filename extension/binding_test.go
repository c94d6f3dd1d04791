package extension_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
)

// The Go side of a shop as reflection sees what gqlgen generates.
type (
	shopRoot      interface{ Query() QueryResolver }
	QueryResolver interface {
		Order(ctx context.Context) (*shopOrder, error)
		Extra(ctx context.Context) (map[string]any, error)
	}
	shopOrder struct {
		shopBase
		ID    string
		Lines []*shopLine
		total float64 // Total is bound, not this
	}
	shopBase struct{ Created string }
	shopLine struct {
		SkuCode string
		Renamed string `json:"alias"`
		Named   string
	}
)

func (o *shopOrder) Total() float64            { return o.total }
func (*shopLine) Alias() (string, error)       { return "", nil }
func (*shopLine) GetSkuCode() string           { return "" }
func (*shopLine) Weight() (weight int, _ bool) { return 0, false }

func TestBoundGoMembersAreFoundOnTheWayFromTheResultsOfResolvers(t *testing.T) {
	type generated struct {
		onlySchema
		Resolvers shopRoot
	}
	es := &generated{onlySchema: onlySchema{schema: loadShop(t, `
directive @goField(name: String) on FIELD_DEFINITION
type Query { order: Order extra: Extra }
type Order { id: ID! created: String lines: [Line!] total: Float! unbound: String }
type Line { sku_code: String alias: String weight: Int name: String @goField(name: "Named") }
type Extra { any: String }
`)}}
	wrong := []extension.Option{
		answerWith("Order.total", "4"), answerWith("Order.unbound", 4), answerWith("Line.alias", 4), answerWith("Line.weight", "4"),
	}
	guesses := []string{
		`WithFallback("Line.weight"): returns string, but the Go method that it looks bound to returns int`,
		`WithFallback("Order.total"): returns string, but the Go method that it looks bound to returns float64`,
	}
	require.Equal(t, guesses, warningsOf(t, es, wrong...))
	require.Equal(t, guesses, warningsOf(t, es, append(wrong, extension.Strict())...), "gqlgen.yml may bind another")

	data := []extension.Option{
		onlyTimed("Order.id"), onlyTimed("Order.created"), onlyTimed("Order.unbound"), onlyTimed("Line.name"), onlyTimed("Extra.any"),
		onlyTimed("Line.sku_code"), onlyTimed("Line.alias"), // what gqlgen's config may bind otherwise
		onlyTimed("Query.order"), answerWith("Order.total", 4.0),
	}
	require.Equal(t, []string{
		`WithField("Extra.any"): looks like ` + plainData("Extra", "any"),
		`WithField("Line.name"): looks like ` + plainData("Line", "name"),
		`WithField("Order.created"): looks like ` + plainData("Order", "created"),
		`WithField("Order.id"): looks like ` + plainData("Order", "id"),
	}, warningsOf(t, es, append(data, extension.Strict())...))
}

// What reflection is easily wrong about.
type (
	trapRoot struct {
		onlySchema
		Resolvers interface {
			Query() trapQueryResolver
			Table() trapTableResolver
		}
	}
	trapQueryResolver interface {
		Orders(ctx context.Context) (trapOrders, error)
		Props(ctx context.Context) (trapProps, error)
		Order(ctx context.Context) (*trapOrder, error)
		Shop(ctx context.Context) (*trapShop, error)
	}
	trapTableResolver interface {
		Rows(ctx context.Context, obj trapOrders) ([]string, error)
		Cells(ctx context.Context, objs []trapOrders) ([]string, error)
	}
	trapOrders   []*trapOrder
	trapProps    map[string]int
	trapOrder    struct{ Buyer *trapOldBuyer }
	trapShop     struct{ Boss *trapBoss }
	trapOldBuyer struct{ Name string }
	trapBoss     struct{}
)

func (trapOrders) Total() int   { return 0 }
func (trapProps) Size() int     { return 0 }
func (*trapBoss) Name() string  { return "" }
func (*trapBoss) Other() string { return "" }

func newTrap(t *testing.T, sdl string) *trapRoot {
	return &trapRoot{onlySchema: onlySchema{schema: loadShop(t, sdl)}}
}

const trapSDL = `
type Query { orders: Orders props: Props order: Order shop: Shop }
type Orders { total: Int }
type Props { size: Int }
type Order { buyer: Customer }
type Shop { boss: Customer }
type Customer { name: String other: Int }
type Table { rows: [String] cells: String }`

func TestMethodsOfNamedSlicesAndMapsAreNoPlainData(t *testing.T) {
	require.Empty(t, warningsOf(t, newTrap(t, trapSDL), onlyTimed("Orders.total"), onlyTimed("Props.size"),
		answerWith("Orders.total", 1), answerWith("Props.size", 1)))
}

func TestWhereTwoWaysToAnObjectDisagreeNothingIsKnownOfIt(t *testing.T) {
	for range 20 { // in whatever order a map has its types
		require.Empty(t, warningsOf(t, newTrap(t, trapSDL), onlyTimed("Customer.name"), answerWith("Customer.other", 1)))
	}
}

func TestWhatLooksLikePlainDataStaysInThePlan(t *testing.T) {
	es := newTrap(t, `
type Query { order: Order }
type Order @resilience(timeout: "1s") { buyer: Customer }
type Customer { name: String @resilience(timeout: "1s") }`)
	e := extension.New(newRegistry(t, nil), extension.Strict(), extension.WithLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, e.Validate(es))
	require.Equal(t, []string{
		"shop.graphqls:4: Customer.name: looks like " + plainData("Customer", "name"),
		"shop.graphqls:3 (type Order): all fields look like plain data in Go, without a resolver or bound method: no policy runs, so the annotation does nothing; " +
			"remove it, or have a resolver generated, in gqlgen.yml by models: {Order: {fields: {…: {resolver: true}}}}",
	}, e.Warnings())

	plan := e.Plan()
	require.Len(t, plan.Fields, 2)
	for _, f := range plan.Fields {
		require.True(t, f.LooksLikeData, f.Coordinate)
		require.Equal(t, f.Coordinate == "Order.buyer", f.ByType)
		require.Contains(t, plan.String(), "\n"+f.Coordinate+" *")
	}
	require.Contains(t, plan.String(), "\n* Looks like plain data in Go: under the policy only if gqlgen.yml binds it to a resolver or method.\n")
	encoded, err := json.Marshal(plan)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(encoded), `"looksLikeData":true`))
}

func TestAParentThatIsANamedSliceMakesNoBatch(t *testing.T) {
	quiet := extension.WithLogger(slog.New(slog.DiscardHandler))
	e := extension.New(newRegistry(t, nil), onlyTimed("Table.rows"), onlyTimed("Table.cells"), answerWith("Table.rows", []string{}), answerWith("Table.cells", ""), quiet)
	require.NoError(t, e.Validate(newTrap(t, trapSDL)))
	warnings := strings.Join(e.Warnings(), "\n")
	require.NotContains(t, warnings, "Table.rows")
	require.Contains(t, warnings, `"Table.cells"): a batch field without a guard`)
}

func TestAnEntityFinderOfHiddenResolversMayHaveItsGuard(t *testing.T) {
	finder := onlyTimed("Entity.findProductByID")
	for _, es := range []hidden{{testgraph.NewFederatedSchema(&federated.Stub{})}, {testgraph.NewGuardedFederatedSchema(&federated.Stub{})}} {
		require.Empty(t, warningsOf(t, es, finder))
	}
	require.ErrorContains(t, extension.New(newRegistry(t, nil), finder, extension.WithResolvers(&federated.Stub{})).
		Validate(hidden{testgraph.NewFederatedSchema(&federated.Stub{})}), "this one has none")
}

func TestABatchResolverIsKnownByItsParents(t *testing.T) {
	// That Item.strictStock is one, only gqlgen.yml says.
	e := extension.New(newRegistry(t, nil), underPreset("Item.strictStock", "dependency"), extension.WithLogger(slog.New(slog.DiscardHandler)))
	require.Empty(t, use(t, testgraph.NewSchema(&testgraph.Stub{}), e))
	require.Contains(t, strings.Join(e.Warnings(), "\n"), `WithField("Item.strictStock"): a batch field without a guard`)

	e = extension.New(newRegistry(t, nil), underPreset("Item.strictStock", "dependency"), extension.WithLogger(slog.New(slog.DiscardHandler)))
	require.Empty(t, use(t, testgraph.NewGuardedSchema(&testgraph.Stub{}), e))
	require.NotContains(t, strings.Join(e.Warnings(), "\n"), "batch")
}
