package extension_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// hidden is a schema in a wrapper that hides its resolvers.
type hidden struct{ graphql.ExecutableSchema }

// annotated returns a server's schema with parts of its SDL replaced; see variantOf.
func annotated(t testing.TB, oldNew ...string) graphql.ExecutableSchema {
	t.Helper()
	stub := &testgraph.Stub{}
	return withSchema(stub, variantOf(t, testgraph.NewSchema(stub).Schema(), oldNew...))
}

// lineOf returns "schema.graphqls:7" for the first line of the test schema that has the text.
func lineOf(t testing.TB, text string) string {
	t.Helper()
	source := testgraph.NewSchema(&testgraph.Stub{}).Schema().Query.Position.Src
	before, _, found := strings.Cut(source.Input, text)
	require.True(t, found, text)
	return source.Name + ":" + slog.IntValue(1+strings.Count(before, "\n")).String()
}

// forgotten is the warning about the guards that the test schema has and its server does not use.
const forgotten = "guards are generated, but the server's resolvers have none, so policies run in the field middleware: give NewExecutableSchema what Guard returns"

// warningsOf returns what the extension warns about when the schema's server uses it, guards or
// not.
func warningsOf(t testing.TB, es graphql.ExecutableSchema, options ...extension.Option) []string {
	t.Helper()
	quiet := extension.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	e := extension.New(newRegistry(t, nil), append(options, quiet)...)
	require.NoError(t, e.Validate(es))
	var others []string
	for _, warning := range e.Warnings() {
		if warning != forgotten {
			others = append(others, warning)
		}
	}
	return others
}

func onlyTimed(coordinate string) extension.Option {
	return underPreset(coordinate, "dependency")
}

func retried(coordinate string, attempts int) extension.Option {
	return extension.WithField(coordinate, extension.Field{Spec: retrying(policy.Spec{}, attempts)})
}

// plainData is what is warned about of a field, and how to give it a resolver.
func plainData(object, field string) string {
	return "plain data in Go, without a resolver or bound method: no policy runs, so the annotation or option does nothing; " +
		"remove it, or have a resolver generated, in gqlgen.yml by models: {" + object + ": {fields: {" + field + ": {resolver: true}}}}"
}

func TestUseWarnsOfAnnotationsAndOptionsOfPlainData(t *testing.T) {
	es := annotated(t, "theme: String!", `theme: String @resilience(timeout: "1s")`)
	require.Equal(t, []string{
		`WithField("Item.name"): ` + plainData("Item", "name"),
		`WithFallback("Quote.service"): ` + plainData("Quote", "service"),
		lineOf(t, "theme: String!") + `: Settings.theme: ` + plainData("Settings", "theme"),
	}, warningsOf(t, es, onlyTimed("Item.name"), onlyTimed("Item.slow"), onlyTimed("Guarded.computed"),
		answerWith("Quote.service", "post"), answerWith("Quote.eta", new("soon"))))
}

func TestUseWarnsOfATypesAnnotationOnlyIfNoneOfItsFieldsHasAPolicy(t *testing.T) {
	typed := `@resilience(timeout: "1s") {`
	require.Equal(t, []string{
		lineOf(t, "type Settings") + ` (type Settings): all fields are plain data in Go, without a resolver or bound method: no policy runs, so the annotation does nothing; ` +
			`remove it, or have a resolver generated, in gqlgen.yml by models: {Settings: {fields: {…: {resolver: true}}}}`,
	}, warningsOf(t, annotated(t, "type Settings {", "type Settings "+typed, "type Quote {", "type Quote "+typed)))
}

func TestAFallbackIsCheckedAgainstTheResolversThatASchemaHides(t *testing.T) {
	stub := &testgraph.Stub{}
	es := hidden{testgraph.NewSchema(stub)}
	wrong := []extension.Option{answerWith("Query.items", []model.Item{}), answerWith("Guarded.computed", 7)}
	require.Empty(t, warningsOf(t, es, wrong...))
	require.EqualError(t, extension.New(newRegistry(t, nil), append(wrong, extension.WithResolvers(stub))...).Validate(es),
		"gqlresilience:\n"+
			`WithFallback("Guarded.computed"): returns int, but the Go method that it is bound to returns *string`+"\n"+
			`WithFallback("Query.items"): returns []model.Item, but the resolver returns []*model.Item`)
	require.Equal(t, []string{`WithField("Item.name"): ` + plainData("Item", "name")},
		warningsOf(t, es, onlyTimed("Item.name"), onlyTimed("Item.slow"), extension.WithResolvers(stub)))
}

func TestAGuardIsSeenInTheResolversThatASchemaHides(t *testing.T) {
	stub := &testgraph.Stub{}
	es := hidden{testgraph.NewGuardedSchema(stub)}
	require.Len(t, warningsOf(t, es, onlyTimed("Item.stock")), 1)
	require.Empty(t, warningsOf(t, es, onlyTimed("Item.stock"), extension.WithResolvers(testgraph.Guard(stub))))
}

func TestWithResolversTakesOneResolverRoot(t *testing.T) {
	stub := &testgraph.Stub{}
	err := extension.New(newRegistry(t, nil), extension.WithResolvers(nil), extension.WithResolvers(model.Item{}),
		extension.WithResolvers(stub), extension.WithResolvers(stub)).Validate(testgraph.NewSchema(stub))
	require.EqualError(t, err, "gqlresilience:\n"+
		"WithResolvers: <nil> is no ResolverRoot: it has no method that returns resolvers\n"+
		"WithResolvers: model.Item is no ResolverRoot: it has no method that returns resolvers\n"+
		"WithResolvers: given twice")
}

func TestUseWarnsOfWhatANonNullFieldsFailureTakesAlong(t *testing.T) {
	nulls := func(what string) string {
		return "non-null without a fallback: a failure makes null of " + what + "; make it nullable, or add WithFallback"
	}
	es := annotated(t, "type Detail {", `type Detail @resilience(timeout: "1s") {`,
		"note: String @", "note: String! @", "strictText: String!", `strictText: String! @resilience(timeout: "1s")`)
	require.Equal(t, []string{
		lineOf(t, "type Detail") + ` (type Detail): Detail.note, Detail.strictNote: ` + nulls("Item.detail"),
		`WithField("Item.strictQuotes"): ` + nulls("the whole response, Detail.related, Mutation.create, and 8 more"),
		lineOf(t, "strictText") + `: Query.strictText: ` + nulls("the whole response"),
	}, warningsOf(t, es, onlyTimed("Item.strictQuotes"), onlyTimed("Item.quotes"), onlyTimed("Subscription.ticks"),
		onlyTimed("Query.strictItem"), answerWith("Query.strictItem", &model.Item{})))
}

func TestATypesDirectiveRunsForFieldsThatReturnItUnlessInputsMayHaveItToo(t *testing.T) {
	for where, warned := range map[string]int{"FIELD_DEFINITION | OBJECT": 1, "FIELD_DEFINITION | OBJECT | INPUT_OBJECT": 0} {
		es := annotated(t, "@hasRole(role: String!) on FIELD_DEFINITION", "@hasRole(role: String!) on "+where,
			"type Settings {", `type Settings @hasRole(role: "admin") {`)
		require.Len(t, warningsOf(t, es, onlyTimed("Query.settings")), warned, where)
	}
}

func TestUseWarnsOfWhatTheMiddlewareDoesToDirectivesAndBatches(t *testing.T) {
	options := []extension.Option{onlyTimed("Item.stock"), onlyTimed("Query.secret"), onlyTimed("Query.text")}
	stub := &testgraph.Stub{}
	require.Equal(t, []string{
		`WithField("Item.stock"): a batch field without a guard: a batch of n items is n calls of the policy, and a retry gets the batch's first answer again; guard it`,
		`WithField("Query.secret"): @hasRole runs inside each attempt, where a denial without a client error's code is retried and counted as the resolver's failure; guard the field, or give denials a code such as FORBIDDEN`,
	}, warningsOf(t, testgraph.NewSchema(stub), options...))
	require.Empty(t, warningsOf(t, testgraph.NewGuardedSchema(stub), options...))
}

func TestUseWarnsOfFieldsWithoutAGuardBesideGuardedOnes(t *testing.T) {
	stub := &testgraph.Stub{}
	require.Equal(t, []string{
		`WithField("Guarded.computed"): bound to a Go method, which can't have a guard as other fields have: the policy runs in the field middleware; give it a resolver to have it guarded`,
	}, warningsOf(t, testgraph.NewGuardedSchema(stub), onlyTimed("Guarded.computed"), onlyTimed("Query.text")))
	require.Empty(t, warningsOf(t, testgraph.NewSchema(stub), onlyTimed("Guarded.computed"), onlyTimed("Query.text")))
}

func TestUseRefusesEntityFindersWithoutAGuard(t *testing.T) {
	finder := onlyTimed("Entity.findProductByID")
	err := extension.New(newRegistry(t, nil), finder).Validate(testgraph.NewFederatedSchema(&federated.Stub{}))
	require.EqualError(t, err, "gqlresilience:\n"+`WithField("Entity.findProductByID"): federation's entity finders pass a policy only in a guard, and this one has none: generate guards, and give the server Guard(resolvers)`)
	require.Empty(t, warningsOf(t, testgraph.NewGuardedFederatedSchema(&federated.Stub{}), finder))
}

func TestUseWarnsOfGuardsThatWereForgotten(t *testing.T) {
	stub := &testgraph.Stub{}
	warnings := func(es graphql.ExecutableSchema, options ...extension.Option) []string {
		e := extension.New(newRegistry(t, nil), append(options, extension.WithLogger(slog.New(slog.DiscardHandler)))...)
		require.NoError(t, e.Validate(es))
		return e.Warnings()
	}
	// The schema has annotations of its own.
	require.Equal(t, []string{forgotten}, warnings(testgraph.NewSchema(stub)))
	require.Empty(t, warnings(testgraph.NewGuardedSchema(stub)))
	require.Empty(t, warnings(testgraph.NewFederatedSchema(&federated.Stub{})), "no field has a policy")
	require.Empty(t, warnings(testgraph.NewGuardedFederatedSchema(&federated.Stub{})))
}

func TestStrictMakesErrorsOfWarningsAndTellsThemWithTheOthers(t *testing.T) {
	es := testgraph.NewSchema(&testgraph.Stub{})
	options := []extension.Option{extension.Strict(), onlyTimed("Item.name"), onlyTimed("Query.strictText")}
	strict := extension.New(newRegistry(t, nil), options...)
	require.EqualError(t, strict.Validate(es), "gqlresilience:\n"+
		`WithField("Item.name"): `+plainData("Item", "name")+"\n"+
		forgotten+"\n"+
		`WithField("Query.strictText"): non-null without a fallback: a failure makes null of the whole response; make it nullable, or add WithFallback`)
	require.Empty(t, strict.Warnings())

	require.EqualError(t, extension.New(newRegistry(t, nil), append(options, onlyTimed("Query.txt"))...).Validate(es), "gqlresilience:\n"+
		`WithField("Query.txt"): type Query has no field txt, did you mean "Query.text"?`+"\n"+
		`WithField("Item.name"): `+plainData("Item", "name"))

	require.NoError(t, extension.New(newRegistry(t, nil), extension.Strict(), onlyTimed("Query.text")).Validate(testgraph.NewGuardedSchema(&testgraph.Stub{})))
}
