package extension_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestOfTooManyValuesTheLeastRecentlyUsedIsForgotten(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		d := &dependency{}
		stub := &testgraph.Stub{}
		stub.QueryResolver.Item = func(_ context.Context, id string) (*model.Item, error) {
			name, err := d.answer(id)
			if err != nil {
				return nil, err
			}
			return &model.Item{ID: id, Name: *name}, nil
		}
		server := serving(t, h.schema(stub), extension.WithStale("Query.item", extension.Stale{MaxAge: time.Hour, MaxEntries: 2,
			Key: func(_ context.Context, args map[string]any) (string, bool) { return args["id"].(string), true }}))
		item := func(id string) any {
			item, ok := testgraph.Post(t.Context(), t, server, fmt.Sprintf(`{ item(id: %q) { name } }`, id)).Data["item"].(map[string]any)
			if !ok {
				return nil
			}
			return item["name"]
		}
		item("a")
		item("b")
		d.goes(errDown)
		require.Equal(t, "a 1", item("a"), "which makes b the one that was not used for longest")
		d.goes(nil)
		item("c")
		d.goes(errDown)
		require.Equal(t, []any{"a 1", nil, "c 4"}, []any{item("a"), item("b"), item("c")})
	})
}

func TestAClientsErrorForgetsTheValue(t *testing.T) {
	forbidden := &gqlerror.Error{Message: "not yours any more", Extensions: map[string]any{"code": "FORBIDDEN"}}
	for name, row := range map[string]struct {
		err    error
		option extension.Option
		after  any
	}{
		"a code":                     {forbidden, staleText(), nil},
		"a status":                   {&policy.ResponseError{Status: 404}, staleText(), nil},
		"unless it was answered for": {forbidden, staleText(extension.When(forbidden, errDown)), "text 1"},
		"a failure does not":         {&policy.ResponseError{Status: 500}, staleText(extension.When(errDown)), "text 1"},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				d := &dependency{}
				server := serving(t, h.schema(textStub(d.text)), row.option)
				for _, err := range []error{nil, row.err, errDown} {
					d.goes(err)
					testgraph.Post(t.Context(), t, server, `{ text }`)
				}
				require.Equal(t, row.after, testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"])
			})
		})
	}
}

func TestWhatIsKept(t *testing.T) {
	for name, row := range map[string]struct {
		then func(ctx context.Context) (*string, error) // after a good value
		want string
	}{
		"a value":                  {answering("second"), `{"data":{"text":"second"}}`},
		"nil, where the field may": {func(context.Context) (*string, error) { return nil, nil }, `{"data":{"text":null}}`},
		"no value beside an error that was added": {func(ctx context.Context) (*string, error) {
			graphql.AddError(ctx, errDown)
			return new("partial"), nil
		}, `{"data":{"text":"first"}}`},
		"no value beside an error": {func(context.Context) (*string, error) { return new("partial"), errDown }, `{"data":{"text":"first"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			underEachHook(t, func(t *testing.T, h hook) {
				resolve := answering("first")
				server := serving(t, h.schema(textStub(func(ctx context.Context) (*string, error) { return resolve(ctx) })),
					staleText(), extension.WithoutDegraded())
				testgraph.Post(t.Context(), t, server, `{ text }`)
				resolve = row.then
				testgraph.Post(t.Context(), t, server, `{ text }`)
				resolve = failing(errDown)
				require.Equal(t, row.want, rawPost(t.Context(), t, server, `{ text }`))
			})
		})
	}
}

func TestNilIsNotKeptForANonNullField(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		var item *model.Item
		var err error
		stub := &testgraph.Stub{}
		stub.QueryResolver.StrictItem = func(context.Context, string) (*model.Item, error) { return item, err }
		server := serving(t, h.schema(stub), extension.WithoutDegraded(),
			extension.WithStale("Query.strictItem", extension.Stale{MaxAge: time.Hour, MaxEntries: 1, Key: same}))
		item = &model.Item{ID: "7"}
		ask := func() string { return rawPost(t.Context(), t, server, `{ strictItem(id: 7) { id } }`) }
		ask()
		item = nil
		require.Contains(t, ask(), "cannot return null")
		err = errDown
		require.Equal(t, `{"data":{"strictItem":{"id":"7"}}}`, ask())
	})
}

// What a fallback answered is not the resolver's.
func TestAFallbacksValueIsNotKept(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		d := &dependency{err: policy.ErrCircuitOpen}
		server := serving(t, h.schema(textStub(d.text)), staleText(),
			extension.WithFallback("Query.text", func(context.Context, error) (*string, error) { return new("fallback"), nil },
				extension.When(policy.ErrCircuitOpen)))
		text := func() any { return testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"] }
		require.Equal(t, "fallback", text())
		d.goes(errDown)
		require.Nil(t, text())
	})
}

func TestALateValueOfAnAbandonedAttemptIsNotKept(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		resolve := answering("in time")
		registry := newRegistry(t, nil)
		server := testgraph.Serve(h.schema(textStub(func(ctx context.Context) (*string, error) { return resolve(ctx) })))
		server.Use(extension.New(registry, underSpec(enforced(time.Second)), staleText()))
		text := func() any { return testgraph.Post(t.Context(), t, server, `{ text }`).Data["text"] }
		require.Equal(t, "in time", text())
		resolve = func(context.Context) (*string, error) {
			time.Sleep(10 * time.Second)
			return new("late"), nil
		}
		text()
		requireQuiet(t, registry)
		resolve = failing(errDown)
		require.Equal(t, "in time", text())
	})
}

func TestStaleAnswersAreKeptAndServedByManyAtOnce(t *testing.T) {
	for name, schema := range map[string]func(*testgraph.Stub) graphql.ExecutableSchema{
		"middleware": testgraph.NewSchema, "guard": testgraph.NewGuardedSchema,
	} {
		t.Run(name, func(t *testing.T) {
			stub := &testgraph.Stub{}
			stub.QueryResolver.Item = func(ctx context.Context, id string) (*model.Item, error) {
				if ctx.Value(userKey{}) == "down" {
					return nil, errDown
				}
				return &model.Item{ID: id, Name: "item " + id}, nil
			}
			server := serving(t, schema(stub), underPreset("Query.item", "dependency"),
				extension.WithStale("Query.item", extension.Stale{MaxAge: time.Hour, MaxEntries: 5,
					Key: func(_ context.Context, args map[string]any) (string, bool) { return args["id"].(string), true }}))
			var asking sync.WaitGroup
			for user := range 8 {
				asking.Go(func() {
					for i := range 50 {
						ctx := as(t, []string{"up", "down"}[(user+i)%2])
						id := strconv.Itoa(i % 7)
						response := testgraph.Post(ctx, t, server, `{ item(id: "`+id+`") { name } }`)
						if item, ok := response.Data["item"].(map[string]any); ok && item["name"] != "item "+id {
							t.Errorf("got %v for %s", item, id)
						}
					}
				})
			}
			asking.Wait()
		})
	}
}
