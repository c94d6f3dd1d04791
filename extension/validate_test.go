package extension_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/policy"
)

// shopRegistry has a preset with three stages and one with a single stage.
func shopRegistry(t testing.TB) *policy.Registry {
	t.Helper()
	registry, err := policy.NewRegistry(policy.Config{Presets: presets{
		"carrier": {
			Timeout: &policy.TimeoutSpec{Duration: new(2 * time.Second)}, Retry: &policy.RetrySpec{},
			CircuitBreaker: &policy.CircuitBreakerSpec{},
		},
		"export": {Bulkhead: &policy.BulkheadSpec{}},
	}})
	require.NoError(t, err)
	return registry
}

func flatRate(context.Context, error) (string, error) { return "flat-rate", nil }

const expectedTimeout = `must be a positive duration such as "1.5s" or "200ms", or "off", or "default"`

func TestUseTellsEveryMistakeOfTheSchemaAtOnce(t *testing.T) {
	got := use(t, onlySchema{schema: loadShop(t, `
type Query {
  orders: [Order!] @resilience(preset: "carier")
  unitless: String @resilience(timeout: "15")
  zero: String @resilience(timeout: "0s")
  negative: String @resilience(timeout: "-1s")
  words: String @resilience(timeout: "soon")
  number: String @resilience(timeout: 3)
  idle: String @resilience(idempotent: true)
  empty: String @resilience
  endless: String @resilience(timeout: "default")
  fine: String @resilience(preset: "carrier", timeout: "1s")
}
interface Node {
  id: ID!
  slow: String @resilience(preset: "carrier")
}
type Order implements Node @resilience(preset: "exprot") {
  id: ID!
  slow: String
}
type Sleeper @resilience(timeout: "off") {
  name: String
}
`)}, extension.New(shopRegistry(t)))

	require.Equal(t, strings.Join([]string{
		`gqlresilience:`,
		`shop.graphqls:4: Query.unitless: @resilience(timeout: "15"): the unit is missing: ` + expectedTimeout,
		`shop.graphqls:5: Query.zero: @resilience(timeout: "0s"): zero: ` + expectedTimeout,
		`shop.graphqls:6: Query.negative: @resilience(timeout: "-1s"): negative: ` + expectedTimeout,
		`shop.graphqls:7: Query.words: @resilience(timeout: "soon"): not a duration: ` + expectedTimeout,
		`shop.graphqls:8: Query.number: @resilience(timeout: 3): a number: ` + expectedTimeout + `, a string`,
		`shop.graphqls:16: Node.slow: @resilience on a field of an interface: policies belong to object types, so put it on Order.slow`,
		`shop.graphqls:18 (type Order): unknown preset "exprot": did you mean "export"?`,
		`shop.graphqls:10: Query.empty: turns no stage on: name a preset or set a timeout (Config.Defaults turn none on)`,
		`shop.graphqls:11: Query.endless: timeout.duration: missing (shop.graphqls:11): the stage is on and needs a duration or a total`,
		`shop.graphqls:9: Query.idle: turns no stage on: name a preset or set a timeout (Config.Defaults turn none on)`,
		`shop.graphqls:3: Query.orders: unknown preset "carier": did you mean "carrier"?`,
		`shop.graphqls:22 (type Sleeper): turns no stage on for any field: name a preset or set a timeout (Config.Defaults turn none on)`,
	}, "\n"), got)
}

func TestUseTellsEveryMistakeOfTheOptionsAtOnce(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `
type Query {
  orders: [String!] @resilience(preset: "carrier")
  order: String
}
interface Node { slow: String }
type Order implements Node { slow: String }
`)}
	got := use(t, shop, extension.New(shopRegistry(t),
		extension.WithField("Query.order", extension.Field{Preset: "export"}),
		extension.WithField("Query.order", extension.Field{Preset: "export"}),
		extension.WithField("Query.ordr", extension.Field{Preset: "export"}),
		extension.WithField("Ordr.slow", extension.Field{Preset: "export"}),
		extension.WithField("order", extension.Field{Preset: "export"}),
		extension.WithField("Node.slow", extension.Field{Preset: "export"}),
		extension.WithField("Query.__typename", extension.Field{Preset: "export"}),
		extension.WithFallback("Query.orders", flatRate),
		extension.WithFallback("Query.orders", flatRate),
		extension.WithFallback("Parcel.weight", flatRate),
		extension.WithFallback[string]("Query.order", nil),
		extension.WithFallback("Query.orders2", flatRate, nil),
		extension.WithFallback("Order.slow", flatRate, extension.When(), extension.WhenFunc(nil)),
		extension.WithFallback("Query.order", flatRate, extension.When(nil, policy.ErrTimeout)),
		extension.WithLogger(nil),
		extension.WithClientErrorCodes("OUT_OF_STOCK", " "),
		extension.WithClientErrorCodes(),
		nil,
	))

	require.Equal(t, strings.Join([]string{
		`gqlresilience:`,
		`WithField("Query.order"): given twice`,
		`WithFallback("Query.orders"): given twice`,
		`WithFallback("Query.order"): the function is nil`,
		`WithFallback("Query.orders2"): an option is nil`,
		`WithFallback("Order.slow"): When: needs errors that are not nil`,
		`WithFallback("Order.slow"): WhenFunc: the function is nil`,
		`WithFallback("Query.order"): When: needs errors that are not nil`,
		`WithLogger: the logger is nil`,
		`WithClientErrorCodes: " ": a code must not be blank`,
		`WithClientErrorCodes: names no code`,
		`New: an option is nil`,
		`WithField("Node.slow"): Node (shop.graphqls:6) is an interface: policies belong to object types, so put it on Order.slow`,
		`WithField("Ordr.slow"): there is no type Ordr, did you mean "Order.slow"?`,
		`WithFallback("Parcel.weight"): there is no type Parcel`,
		`WithField("Query.__typename"): Query.__typename belongs to introspection, which has no policies`,
		`WithFallback("Query.orders2"): type Query has no field orders2, did you mean "Query.orders"?`,
		`WithField("Query.ordr"): type Query has no field ordr, did you mean "Query.order"?`,
		`WithField("order"): "order" is not a field: must be a type and a field, such as "Query.orders"`,
	}, "\n"), got)
}

func TestThereIsNothingToValidateWithoutASchema(t *testing.T) {
	for _, es := range []graphql.ExecutableSchema{nil, onlySchema{}} {
		require.EqualError(t, extension.New(shopRegistry(t)).Validate(es), "gqlresilience: the schema is nil")
	}
}

func TestUseTellsMistakesOfSettingsByNameValueAndSource(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `type Query { orders: [String!] order: String idle: String }`)}
	got := use(t, shop, extension.New(shopRegistry(t),
		extension.WithField("Query.orders", extension.Field{Spec: policy.Spec{
			Retry:          &policy.RetrySpec{Attempts: new(0)},
			CircuitBreaker: &policy.CircuitBreakerSpec{Window: policy.CountWindow(3)},
		}}),
		extension.WithField("Query.order", extension.Field{Preset: "carrier", Spec: policy.Spec{
			Timeout: &policy.TimeoutSpec{Duration: new(-time.Second)},
		}}),
		extension.WithField("Query.idle", extension.Field{Idempotent: new(true)}),
	))
	require.Equal(t, strings.Join([]string{
		`gqlresilience:`,
		`WithField("Query.idle"): turns no stage on: name a preset or set a timeout (Config.Defaults turn none on)`,
		`timeout.duration: -1s (WithField("Query.order")): must be positive`,
		`retry.attempts: 0 (WithField("Query.orders")): must be at least 1`,
		`circuitBreaker.window: the last 3 calls (WithField("Query.orders")): must hold at least minimumCalls, 10 (built-in default)`,
	}, "\n"), got)
}

func TestUseRefusesASettingThatSchemaAndOptionsBothGive(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `
type Query {
  orders: [String!] @resilience(preset: "carrier", timeout: "1s", idempotent: true)
  exempt: String @resilience(timeout: "off", preset: "carrier")
  order: String
}
`)}
	got := use(t, shop, extension.New(shopRegistry(t),
		extension.WithField("Query.orders", extension.Field{
			Preset: "carrier", Idempotent: new(true),
			Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}},
		}),
		extension.WithField("Query.exempt", extension.Field{
			Spec: policy.Spec{Timeout: &policy.TimeoutSpec{Total: new(time.Second)}},
		}),
		extension.WithField("Query.order", extension.Field{Spec: policy.Spec{Fallback: &policy.FallbackSpec{Enabled: new(false)}}}),
		extension.WithFallback("Query.order", flatRate),
	))
	require.Equal(t, strings.Join([]string{
		`gqlresilience:`,
		`WithFallback("Query.order"): fallback is given twice, here and by WithField("Query.order")`,
		`shop.graphqls:3: Query.orders: preset is given twice, here and by WithField("Query.orders")`,
		`shop.graphqls:3: Query.orders: timeout is given twice, here and by WithField("Query.orders")`,
		`shop.graphqls:3: Query.orders: idempotent is given twice, here and by WithField("Query.orders")`,
		`shop.graphqls:4: Query.exempt: timeout is off here and set by WithField("Query.exempt")`,
	}, "\n"), got)
}

func TestUseTellsOfAFieldWithOneMistakeWhatElseIsWrong(t *testing.T) {
	es := annotated(t, `@resilience(timeout: "500ms")`, `@resilience(preset: "dependncy", timeout: "500")`,
		"type Detail {", `type Detail @resilience(preset: "dependenzy", timeout: "1") {`)
	registry := newRegistry(t, nil)
	wrongTypes := []extension.Option{
		answerWith("Query.annotated", 7), answerWith("Query.timed", 7), answerWith("Query.text", 7), answerWith("Query.txt", 7),
	}
	err := extension.New(registry, append(wrongTypes, underPreset("Query.annotated", "dependensy"))...).Validate(es)
	timed, detail := lineOf(t, "timed: String"), lineOf(t, "type Detail")
	require.EqualError(t, err, strings.Join([]string{
		`gqlresilience:`,
		`WithFallback("Query.text"): returns int, but the resolver returns *string`,
		`WithFallback("Query.annotated"): returns int, but the resolver returns []*model.Item`,
		`WithFallback("Query.timed"): returns int, but the resolver returns *string`,
		lineOf(t, "annotated(n") + `: Query.annotated: preset is given twice, here and by WithField("Query.annotated")`,
		timed + `: Query.timed: @resilience(timeout: "500"): the unit is missing: ` + expectedTimeout,
		detail + `: type Detail: @resilience(timeout: "1"): the unit is missing: ` + expectedTimeout,
		`WithFallback("Query.txt"): type Query has no field txt, did you mean "Query.text"?`,
		detail + ` (type Detail): unknown preset "dependenzy": did you mean "dependency"?`,
		`WithField("Query.annotated"): unknown preset "dependensy": did you mean "dependency"?`,
		timed + `: Query.timed: unknown preset "dependncy": did you mean "dependency"?`,
	}, "\n"))
}

func TestUseRefusesTwoConfigurationsOfOneBreaker(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `type Query { a: String b: String c: String d: String @resilience(preset: "carier") }`)}
	breaker := func(rate int) extension.Field {
		return extension.Field{Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{Name: new("carrier"), FailureRate: new(rate)}}}
	}
	got := use(t, shop, extension.New(shopRegistry(t),
		extension.WithField("Query.a", breaker(10)),
		extension.WithField("Query.b", breaker(20)),
		extension.WithField("Query.c", extension.Field{Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{Name: new("carrier")}}}),
	))
	require.Equal(t, strings.Join([]string{
		`gqlresilience:`,
		`shop.graphqls:1: Query.d: unknown preset "carier": did you mean "carrier"?`,
		`circuitBreaker "carrier": configured by preset "carrier" and again by WithField("Query.a"): configure it in one place and only name it in the other`,
		`circuitBreaker "carrier": configured by preset "carrier" and again by WithField("Query.b"): configure it in one place and only name it in the other`,
	}, "\n"), got)
}

func TestAMistakeInABreakersConfigurationIsNotAlsoOneOfThoseWhoNameIt(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `type Query { a: String b: String c: String }`)}
	named := policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{Name: new("pool")}}
	registry := newRegistry(t, presets{"lenient": {CircuitBreaker: &policy.CircuitBreakerSpec{FailureRate: new(90)}}})
	got := use(t, shop, extension.New(registry,
		extension.WithField("Query.a", extension.Field{Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{
			Name: new("pool"), FailureRate: new(0),
		}}}),
		extension.WithField("Query.b", extension.Field{Spec: named}),
		extension.WithField("Query.c", extension.Field{Spec: named, Preset: "lenient"}),
	))
	require.Equal(t, "gqlresilience:\n"+
		`circuitBreaker.failureRate: 0 (WithField("Query.a")): must be a percentage from 1 to 100`, got)
}

func TestUseTellsOfANilRegistryBesideMistakesOfTheSchema(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `type Query { order: String @resilience(timeout: "15") }`)}
	require.Equal(t, strings.Join([]string{
		`gqlresilience:`,
		`New: the registry is nil`,
		`shop.graphqls:1: Query.order: @resilience(timeout: "15"): the unit is missing: ` + expectedTimeout,
	}, "\n"), use(t, shop, extension.New(nil, extension.WithoutErrorMapping())))
}

func TestAMistakeLeavesNothingBehindInTheRegistry(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `type Query { order: String @resilience(preset: "carier") orders: String }`)}
	registry := shopRegistry(t)
	require.NotEmpty(t, use(t, shop, extension.New(registry, extension.WithField("Query.orders", extension.Field{
		Spec: policy.Spec{CircuitBreaker: &policy.CircuitBreakerSpec{}},
	}))))
	_, made := registry.CircuitBreaker("Query.orders")
	require.False(t, made)
}

func TestAFieldsTimeoutOffIsAnExemptionAndNoMistake(t *testing.T) {
	for name, sdl := range map[string]string{
		"from the type's timeout":   `type Query @resilience(timeout: "1s") { order: String @resilience(timeout: "off") orders: String }`,
		"from the preset's timeout": `type Query { order: String @resilience(preset: "timed", timeout: "off") }`,
		"of every field":            `type Query @resilience(timeout: "1s") { order: String @resilience(timeout: "off") }`,
	} {
		t.Run(name, func(t *testing.T) {
			registry := newRegistry(t, presets{"timed": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}}})
			require.Empty(t, use(t, onlySchema{schema: loadShop(t, sdl)}, extension.New(registry)))
		})
	}
}

func TestAnExemptFieldRunsPastItsTypesTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &testgraph.Stub{}
		slow := func(ctx context.Context) (*string, error) {
			select {
			case <-time.After(time.Minute):
				return new("late"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		stub.QueryResolver.Text, stub.QueryResolver.Timed = slow, slow
		variant := variantOf(t, testgraph.NewSchema(stub).Schema(),
			"type Query {", `type Query @resilience(timeout: "1s") {`, `timeout: "500ms"`, `timeout: "off"`)
		server := testgraph.Serve(withSchema(stub, variant))
		server.Use(extension.New(newRegistry(t, nil)))

		require.JSONEq(t, `{"data": {"timed": "late", "text": null}, "errors": [{"message": "The operation timed out",
			"path": ["text"], "locations": [{"line": 1, "column": 9}],
			"extensions": {"code": "TIMEOUT", "httpStatus": 504}}]}`, rawPost(t.Context(), t, server, `{ timed text }`))
	})
}

func TestATypesAnnotationMayServeOnlyFieldsThatHaveTheirOwn(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `
type Query @resilience(idempotent: true) { order: String orders: String }
type Order @resilience(idempotent: true) { quotes: String @resilience(preset: "carrier") id: String }
`)}
	require.Empty(t, use(t, shop, extension.New(shopRegistry(t), extension.WithFallback("Query.order", flatRate))))
}

func TestWhatIsRarelyMeantIsWarnedAboutAtBoot(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `
type Query { order: String }
type Mutation @resilience(idempotent: true) {
  book: String @resilience(preset: "carrier")
  update: String @resilience(preset: "carrier", idempotent: false)
  cancel: String @resilience(preset: "carrier", idempotent: false)
}
type Subscription { events: String }
`)}
	retry := extension.Field{Spec: policy.Spec{Retry: &policy.RetrySpec{}}}
	logger, lines := logs()
	require.Empty(t, use(t, shop, extension.New(shopRegistry(t), extension.WithLogger(logger),
		extension.WithField("Query.order", retry), extension.WithField("Mutation.book", retry),
		extension.WithField("Mutation.update", retry), extension.WithField("Subscription.events", retry),
		extension.WithField("Mutation.cancel", extension.Field{Spec: policy.Spec{Retry: &policy.RetrySpec{Enabled: new(false)}}}),
	)))
	require.Equal(t, []string{
		`level=WARN msg="gqlresilience: shop.graphqls:3: type Mutation: @resilience(idempotent: true) lets every mutation be retried, those added later too; better say it field by field"`,
		`level=WARN msg="gqlresilience: WithField(\"Mutation.update\"): retry has no effect: the field is not idempotent"`,
		`level=WARN msg="gqlresilience: WithField(\"Subscription.events\"): retry has no effect: the field is not idempotent"`,
	}, lines())
}

func TestAPresetsRetryIsSkippedInSilenceForAMutation(t *testing.T) {
	shop := onlySchema{schema: loadShop(t, `type Query { order: String } type Mutation { book: String @resilience(preset: "carrier") }`)}
	logger, lines := logs()
	require.Empty(t, use(t, shop, extension.New(shopRegistry(t), extension.WithLogger(logger))))
	require.Empty(t, lines())
}

func TestUseRefusesARuntimeDirectiveThatNobodyImplements(t *testing.T) {
	type generated struct {
		onlySchema
		Directives struct {
			Resilience func(ctx context.Context, obj any, next graphql.Resolver, preset, timeout *string, idempotent *bool) (any, error)
		}
	}
	shop := &generated{onlySchema: onlySchema{schema: loadShop(t, `type Query { orders: String @resilience(timeout: "1s") }`)}}
	err := extension.New(newRegistry(t, nil)).Validate(shop)
	require.ErrorContains(t, err, "set directives: resilience: skip_runtime: true in gqlgen.yml")
	shop.Directives.Resilience = extension.Directive
	require.NoError(t, extension.New(newRegistry(t, nil)).Validate(shop))
}
