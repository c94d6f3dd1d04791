package extension_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestTheLastGoodValueAnswersForAFieldAndTellsItsAge(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		d := &dependency{}
		server := serving(t, h.schema(textStub(d.text)), staleText())
		text := func() string { return rawPost(t.Context(), t, server, `{ text }`) }
		d.goes(errDown)
		require.Equal(t, onTheWire(errDown.Error(), ""), text(), "there is no value yet")

		d.goes(nil)
		require.Equal(t, `{"data":{"text":"text 2"}}`, text())
		require.Equal(t, `{"data":{"text":"text 3"}}`, text(), "while the dependency is up, it is asked")

		d.goes(&policy.Error{Kind: policy.KindCircuitOpen})
		require.Equal(t, `{"data":{"text":"text 3"},"extensions":{"degraded":[{"path":["text"],"code":"CIRCUIT_OPEN","age":0}]}}`, text())
		time.Sleep(12*time.Second + 900*time.Millisecond)
		require.Equal(t, `{"data":{"text":"text 3"},"extensions":{"degraded":[{"path":["text"],"code":"CIRCUIT_OPEN","age":12}]}}`, text(),
			"what was served does not count as new")

		d.goes(nil)
		require.Equal(t, `{"data":{"text":"text 6"}}`, text())
	})
}

func TestAStaleAnswerIsNeverOlderThanItsMaxAge(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		d := &dependency{}
		server := serving(t, h.schema(textStub(d.text)), staleText(), extension.WithoutDegraded())
		text := func() any { return testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"] }
		text()
		d.goes(errDown)
		time.Sleep(time.Minute)
		require.Equal(t, "text 1", text())
		time.Sleep(time.Nanosecond)
		require.Nil(t, text())
		d.goes(nil)
		require.Equal(t, "text 4", text())
		d.goes(errDown)
		require.Equal(t, "text 4", text())
	})
}

func TestFieldsUnderAStaleValueAreResolvedAnewUnderTheirOwnPolicies(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		items, details := &dependency{}, &dependency{}
		stub := stubOf("1")
		resolve := stub.QueryResolver.Items
		stub.QueryResolver.Items = func(ctx context.Context, n *int) ([]*model.Item, error) {
			if _, err := items.answer(""); err != nil {
				return nil, err
			}
			return resolve(ctx, n)
		}
		stub.ItemResolver.Probe = func(context.Context, *model.Item) (*string, error) { return details.answer("probe") }
		server := serving(t, h.schema(stub), underPreset("Query.items", "dependency"), answerWith("Item.probe", new("fallback")),
			extension.WithStale("Query.items", extension.Stale{MaxAge: time.Hour, MaxEntries: 1, Key: same}), extension.WithoutDegraded())
		ask := func() string { return rawPost(t.Context(), t, server, `{ items { name probe } }`) }
		require.Equal(t, `{"data":{"items":[{"name":"item 1","probe":"probe 1"}]}}`, ask())
		items.goes(errDown)
		require.Equal(t, `{"data":{"items":[{"name":"item 1","probe":"probe 2"}]}}`, ask())
		details.goes(errDown)
		require.Equal(t, `{"data":{"items":[{"name":"item 1","probe":"fallback"}]}}`, ask())
	})
}

func TestStaleAnswerAndFallbackEachAnswerByTheirOwnConditions(t *testing.T) {
	open := &policy.Error{Kind: policy.KindCircuitOpen}
	notFound := &gqlerror.Error{Message: "no such text", Extensions: map[string]any{"code": "NOT_FOUND"}}
	fallback := func(options ...extension.FallbackOption) extension.Option {
		return extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return new("fallback"), nil }, options...)
	}
	const stale, second, failed = "text 1", "fallback", ""
	type want struct {
		err   error
		value string
	}
	for name, row := range map[string]struct {
		options []extension.Option
		first   []want // where there is a stale value
		without []want // where there is none
	}{
		"a stale answer alone": {[]extension.Option{staleText()},
			[]want{{errDown, stale}, {open, stale}, {notFound, failed}}, []want{{errDown, failed}, {open, failed}}},
		"a stale answer alone, when": {[]extension.Option{staleText(extension.When(policy.ErrCircuitOpen))},
			[]want{{errDown, failed}, {open, stale}}, []want{{errDown, failed}, {open, failed}}},
		"both": {[]extension.Option{staleText(), fallback()},
			[]want{{errDown, stale}, {open, stale}, {notFound, failed}}, []want{{errDown, second}, {open, second}, {notFound, failed}}},
		"both, in the other order": {[]extension.Option{fallback(), staleText()},
			[]want{{errDown, stale}}, []want{{errDown, second}}},
		"both, a stale answer when": {[]extension.Option{staleText(extension.When(policy.ErrCircuitOpen)), fallback()},
			[]want{{errDown, second}, {open, stale}, {notFound, failed}}, []want{{errDown, second}, {open, second}, {notFound, failed}}},
		"both, a fallback when": {[]extension.Option{staleText(), fallback(extension.When(notFound))},
			[]want{{errDown, stale}, {notFound, second}}, []want{{errDown, failed}, {notFound, second}}},
		"both, both when": {[]extension.Option{staleText(extension.When(notFound)), fallback(extension.When(open))},
			[]want{{errDown, failed}, {open, second}, {notFound, stale}}, []want{{errDown, failed}, {open, second}, {notFound, failed}}},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				for _, filled := range []bool{true, false} {
					wants := map[bool][]want{true: row.first, false: row.without}[filled]
					for _, want := range wants {
						d := &dependency{}
						server := serving(t, h.schema(textStub(d.text)), row.options...)
						if filled {
							testgraph.Post(t.Context(), t, server, `{ text }`)
						}
						d.goes(want.err)
						response := testgraph.Post(t.Context(), t, server, `{ text }`)
						if want.value == failed {
							require.Len(t, response.Errors, 1, "%v: %v", want.err, response.Data)
							require.Nil(t, response.Extensions)
							continue
						}
						require.Equal(t, want.value, response.Data["text"], "%v", want.err)
						told := response.Extensions["degraded"].([]any)[0].(map[string]any)
						_, aged := told["age"]
						require.Equal(t, want.value == stale, aged)
					}
				}
			})
		})
	}
}

func TestAGuardServesAStaleAnswerBesideAnAbandonedAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := false
		registry := newRegistry(t, nil)
		server := testgraph.Serve(testgraph.NewGuardedSchema(textStub(func(context.Context) (*string, error) {
			if hang {
				time.Sleep(10 * time.Second)
			}
			return new("in time"), nil
		})))
		server.Use(extension.New(registry, underSpec(enforced(time.Second)), staleText()))
		rawPost(t.Context(), t, server, `{ text }`)
		hang = true
		require.Equal(t, `{"data":{"text":"in time"},"extensions":{"degraded":[{"path":["text"],"code":"TIMEOUT","age":1}]}}`,
			rawPost(t.Context(), t, server, `{ text }`))
		require.Equal(t, 1, registry.Abandoned())
		requireQuiet(t, registry)
	})
}

// Of fields that fail at the same time, the first payload may tell.
func TestADeferredFieldIsToldStaleBesideItsDataOrBefore(t *testing.T) {
	for name, ask := range map[string]func(context.Context, testing.TB, http.Handler, string) []testgraph.Response{
		"multipart": testgraph.PostDeferred, "events": testgraph.Stream,
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				d := &dependency{}
				stub := stubOf("1", "2")
				stub.ItemResolver.Slow = func(_ context.Context, item *model.Item) (*string, error) { return d.answer(item.ID) }
				server := serving(t, h.schema(stub), extension.WithStale("Item.slow", extension.Stale{MaxAge: time.Hour, MaxEntries: 9, Key: byItem}))
				const query = `{ items { id ... @defer { slow } } }`
				ask(t.Context(), t, server, query)
				d.goes(errDown)
				time.Sleep(time.Minute)
				told := map[string]any{}
				for _, response := range ask(t.Context(), t, server, query) {
					list, _ := response.Extensions["degraded"].([]any)
					for _, entry := range list {
						entry := entry.(map[string]any)
						told[fmt.Sprint(entry["path"])] = entry["age"]
					}
					if _, ok := response.Data["slow"]; ok {
						index, _ := response.Path[1].(ast.PathIndex)
						require.Contains(t, told, fmt.Sprintf("[items %d slow]", index))
					}
				}
				require.Equal(t, map[string]any{"[items 0 slow]": 60.0, "[items 1 slow]": 60.0}, told)
			})
		})
	}
}
