package extension_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
)

func TestAPlanOfASchemaAloneTellsTheSameButHowPoliciesAreHookedIn(t *testing.T) {
	es := testgraph.NewSchema(&testgraph.Stub{})
	budget := extension.WithOperationBudget(extension.Budget{Timeout: time.Hour})
	served, alone := planned(t, budget), planned(t, budget)
	require.Empty(t, use(t, es, served))

	plan, warnings, err := alone.PlanSchema(es.Schema())

	require.NoError(t, err)
	assert.Empty(t, warnings)
	want := served.Plan()
	for i := range want.Fields {
		want.Fields[i].HookedIn = ""
	}
	var byType []string
	all := plan.Fields
	plan.Fields = nil
	for _, f := range all {
		if f.ByType {
			byType = append(byType, f.Coordinate)
		}
		if f.ByType = false; f.Coordinate != "Guarded.plain" {
			plan.Fields = append(plan.Fields, f)
		}
	}
	assert.Equal(t, []string{"Guarded.computed", "Guarded.plain", "Guarded.resolved"}, byType, "which of them have policies is not known")
	assert.Equal(t, want.String(), plan.String())
	assert.NotContains(t, plan.String(), "HOOKED IN")
	for _, f := range plan.Fields {
		assert.Equal(t, fieldJSON(t, want, f.Coordinate), fieldJSON(t, plan, f.Coordinate))
	}
	assert.Empty(t, alone.Plan().Fields, "it serves nobody")
}

func TestAPlanMarksFieldsThatMayHaveNoPolicy(t *testing.T) {
	plan, _, err := extension.New(newRegistry(t, nil)).PlanSchema(loadShop(t, `
type Query { order: Order }
type Order @resilience(timeout: "1s") { id: ID, quotes: [Int!] @resilience(preset: "dependency") }`))
	require.NoError(t, err)

	assert.Equal(t, `FIELD         POLICY      TIMEOUT      ATTEMPTS  FALLBACK  WORST CASE
Order.id *    Order.id    1s Enforced  1         -         1.01s
Order.quotes  dependency  1s Enforced  1         -         1.01s

* Annotated by its type alone: under the policy only if it has a resolver or a bound method.

Policy Order.id
  timeout.duration  1s  shop.graphqls:3 (type Order)
  Order.id, by shop.graphqls:3 (type Order)

Policy dependency
  timeout.duration  1s  shop.graphqls:3 (type Order)
  Order.quotes, by shop.graphqls:3
`, plan.String())
	assert.Contains(t, fieldJSON(t, plan, "Order.id"), `"byType":true`)
}

func TestAPlanOfASchemaAloneTellsTheMistakesThatUseWould(t *testing.T) {
	s := loadShop(t, `type Query {
  order: Int @resilience(preset: "dependancy")
  orders: Int @resilience(timeout: "0s")
}`)
	lines := defaultLogs(t)
	newExtension := func() *extension.Extension {
		return extension.New(newRegistry(t, nil), extension.WithField("Query.oder", extension.Field{Preset: "dependency"}))
	}

	plan, warnings, err := newExtension().PlanSchema(s)

	require.EqualError(t, err, "gqlresilience:\n"+
		`shop.graphqls:3: Query.orders: @resilience(timeout: "0s"): zero: must be a positive duration such as "1.5s" or "200ms", or "off", or "default"`+"\n"+
		`WithField("Query.oder"): type Query has no field oder, did you mean "Query.order"?`+"\n"+
		`shop.graphqls:2: Query.order: unknown preset "dependancy": did you mean "dependency"?`)
	assert.Equal(t, use(t, onlySchema{schema: s}, newExtension()), err.Error())
	assert.Empty(t, plan)
	assert.Empty(t, warnings)
	assert.Empty(t, lines())

	_, _, err = newExtension().PlanSchema(nil)
	require.EqualError(t, err, "gqlresilience: the schema is nil")
}

func TestWarningsAboutASchemaAloneAreReturnedAndNotLogged(t *testing.T) {
	lines := defaultLogs(t)
	_, warnings, err := extension.New(newRegistry(t, nil)).PlanSchema(loadShop(t, `
type Query { order: Int }
type Mutation @resilience(preset: "dependency", idempotent: true) { book: Int }`))
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "lets every mutation be retried")
	assert.Empty(t, lines())
}

func TestOfASchemaAloneItIsNotSaidThatABatchHasNoGuard(t *testing.T) {
	s := testgraph.NewSchema(&testgraph.Stub{}).Schema()
	_, warnings, err := extension.New(newRegistry(t, nil), onlyTimed("Item.stock")).PlanSchema(s)
	require.NoError(t, err)
	assert.Empty(t, warnings)
}
