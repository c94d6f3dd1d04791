package extension_test

import (
	"context"
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
	require.EqualError(t, extension.New(newRegistry(t, nil), wrong...).Validate(es), "gqlresilience:\n"+
		`WithFallback("Line.weight"): returns string, but the Go method that it is bound to returns int`+"\n"+
		`WithFallback("Order.total"): returns string, but the Go method that it is bound to returns float64`)

	data := []extension.Option{
		onlyTimed("Order.id"), onlyTimed("Order.created"), onlyTimed("Order.unbound"), onlyTimed("Line.name"), onlyTimed("Extra.any"),
		onlyTimed("Line.sku_code"), onlyTimed("Line.alias"), // what gqlgen's config may bind otherwise
		onlyTimed("Query.order"), answerWith("Order.total", 4.0),
	}
	require.Equal(t, []string{
		`WithField("Extra.any"): ` + plainData,
		`WithField("Line.name"): ` + plainData,
		`WithField("Order.created"): ` + plainData,
		`WithField("Order.id"): ` + plainData,
	}, warningsOf(t, es, data...))
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
