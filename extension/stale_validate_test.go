package extension_test

import (
	"context"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestMistakesInStaleAnswers(t *testing.T) {
	good := extension.Stale{MaxAge: time.Minute, MaxEntries: 1, Key: same}
	stale := func(coordinate string) extension.Option { return extension.WithStale(coordinate, good) }
	withFallback := policy.Spec{Fallback: &policy.FallbackSpec{Func: func(context.Context, error) (any, error) { return nil, nil }}}
	plain := testgraph.NewSchema(&testgraph.Stub{})
	for name, row := range map[string]struct {
		schema  graphql.ExecutableSchema
		options []extension.Option
		want    string
	}{
		"nothing given": {plain, []extension.Option{extension.WithStale("Query.text", extension.Stale{})},
			"WithStale(\"Query.text\"): MaxAge: 0s: must be more than 0\n" +
				"WithStale(\"Query.text\"): MaxEntries: 0: must be at least 1\n" +
				`WithStale("Query.text"): Key: is required: a value must not be shown to those who may not see it`},
		"given twice":                    {plain, []extension.Option{stale("Query.text"), stale("Query.text")}, `WithStale("Query.text"): given twice`},
		"no condition":                   {plain, []extension.Option{staleText(nil)}, `WithStale("Query.text"): an option is nil`},
		"a wrong condition":              {plain, []extension.Option{staleText(extension.When(), extension.WhenFunc(nil))}, "WithStale(\"Query.text\"): When: needs errors that are not nil\nWithStale(\"Query.text\"): WhenFunc: the function is nil"},
		"an unknown field":               {plain, []extension.Option{stale("Query.texts")}, `WithStale("Query.texts"): type Query has no field texts, did you mean "Query.text"?`},
		"a mutation":                     {plain, []extension.Option{stale("Mutation.save")}, `WithStale("Mutation.save"): what a mutation has done before does not answer for what it has not done now`},
		"a subscription":                 {plain, []extension.Option{stale("Subscription.ticks")}, `WithStale("Subscription.ticks"): a stream can't be kept`},
		"a batch":                        {plain, []extension.Option{stale("Item.stock")}, ""},
		"a batch in a guard":             {testgraph.NewGuardedSchema(&testgraph.Stub{}), []extension.Option{stale("Item.stock")}, `WithStale("Item.stock"): is a batch resolver in a guard: one call answers for many parents, which a key can't tell apart`},
		"an entity finder":               {testgraph.NewGuardedFederatedSchema(&federated.Stub{}), []extension.Option{stale("Entity.findProductByID")}, `WithStale("Entity.findProductByID"): is an entity finder, whose arguments a key can't see`},
		"WithField's fallback":           {plain, []extension.Option{underSpec(withFallback), stale("Query.text")}, `WithStale("Query.text"): the fallback of WithField("Query.text") would get lost: give it by WithFallback("Query.text")`},
		"a preset's fallback":            {plain, []extension.Option{underPreset("Query.text", "answered"), stale("Query.text")}, `WithStale("Query.text"): the fallback of preset "answered" would get lost: give it by WithFallback("Query.text") too`},
		"a preset's fallback, given too": {plain, []extension.Option{underPreset("Query.text", "answered"), stale("Query.text"), answerWith("Query.text", new("x"))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			message := use(t, row.schema, extension.New(newRegistry(t, presets{"answered": withFallback}), row.options...))
			if row.want == "" {
				require.Empty(t, message)
			} else {
				require.Equal(t, "gqlresilience:\n"+row.want, message)
			}
		})
	}
}
