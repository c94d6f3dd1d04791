package gqlerrors_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/federated"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestAnUnknownErrorIsOneMessageForClientsAndWholeInTheLog(t *testing.T) {
	server, records := masked(t, failing(fmt.Errorf("prices: %w", errSecret)), nil)

	response := testgraph.Post(t.Context(), t, server, `{ a: text b: text }`)

	require.Len(t, response.Errors, 2)
	logged := map[string]record{}
	for _, r := range records() {
		logged[r.Instance] = r
	}
	require.Len(t, logged, 2, "an id of its own for each error")
	for _, err := range response.Errors {
		assert.NotEmpty(t, err.Locations)
		assert.Equal(t, record{
			Level: "ERROR", Instance: requireInternal(t, err), Field: "Query.text",
			Path: err.Path.String(), Error: "prices: dial tcp 10.0.0.7:5432: refused",
		}, logged[err.Extensions["instance"].(string)])
	}
}

func TestErrorsFromWhereverGqlgenReportsThemAreHidden(t *testing.T) {
	items := func(context.Context, *int) ([]*model.Item, error) { return []*model.Item{{ID: "1"}, {ID: "2"}}, nil }
	for _, row := range []struct {
		behaviour string
		stub      func(*testgraph.Stub)
		query     string
		path      string
		field     string
		text      string
	}{
		{"added beside a value", func(s *testgraph.Stub) {
			s.QueryResolver.Text = func(ctx context.Context) (*string, error) {
				graphql.AddError(ctx, errSecret)
				return new("partial"), nil
			}
		}, `{ text }`, "text", "Query.text", errSecret.Error()},
		{"of a batch's item", func(s *testgraph.Stub) {
			s.QueryResolver.Items = items
			s.ItemResolver.Stock = func(context.Context, []*model.Item) ([]*int, error) {
				return []*int{new(7), nil}, graphql.BatchErrorList{nil, errSecret}
			}
		}, `{ items { stock } }`, "items[1].stock", "Item.stock", errSecret.Error()},
		{"of a field in a list", func(s *testgraph.Stub) {
			s.QueryResolver.Items = items
			s.ItemResolver.Slow = func(_ context.Context, item *model.Item) (*string, error) {
				if item.ID == "1" {
					return nil, nil
				}
				return nil, errSecret
			}
		}, `{ items { late: slow } }`, "items[1].late", "Item.slow", errSecret.Error()},
		{"of a directive on a field", func(s *testgraph.Stub) {
			s.HasRole = func(context.Context, any, graphql.Resolver, string) (any, error) { return nil, errSecret }
		}, `{ secret }`, "secret", "Query.secret", errSecret.Error()},
		{"of a custom recover func", func(s *testgraph.Stub) {
			s.QueryResolver.Text = func(context.Context) (*string, error) { panic(errSecret) }
		}, `{ text }`, "text", "Query.text", "panic: " + errSecret.Error()},
		{"one of a list", func(s *testgraph.Stub) {
			s.QueryResolver.Text = func(context.Context) (*string, error) {
				return nil, gqlerror.List{gqlerror.Wrap(errSecret)}
			}
		}, `{ text }`, "text", "Query.text", errSecret.Error()},
		{"of a stream's start", func(s *testgraph.Stub) {
			s.SubscriptionResolver.MaybeTicks = func(context.Context) (<-chan *model.Tick, error) { return nil, errSecret }
		}, `subscription { maybeTicks { n } }`, "maybeTicks", "Subscription.maybeTicks", errSecret.Error()},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			stub := new(testgraph.Stub)
			row.stub(stub)
			server, records := masked(t, stub, nil)

			var response testgraph.Response
			if strings.HasPrefix(row.query, "subscription") {
				response = testgraph.Stream(t.Context(), t, server, row.query)[0]
			} else {
				response = testgraph.Post(t.Context(), t, server, row.query)
			}

			require.Len(t, response.Errors, 1)
			assert.Equal(t, []record{{
				Level: "ERROR", Instance: requireInternal(t, response.Errors[0]), Field: row.field, Path: row.path, Error: row.text,
			}}, records())
			assert.Equal(t, row.path, response.Errors[0].Path.String())
		})
	}
}

func TestWhatGqlgenSaysAboutARequestIsNotHidden(t *testing.T) {
	for _, row := range []struct {
		behaviour string
		query     string
		want      string // in the message
	}{
		{"syntax", `{ text `, "Expected Name"},
		{"validation", `{ txt }`, `Cannot query field "txt"`},
		{"a variable", `query($id: ID!) { item(id: $id) { id } }`, "must be defined"},
		{"an argument", `{ items(n: 99999999999999999999) { id } }`, "cannot represent"},
		{"an argument of an introspection field", `{ __type(name: "Item") { name } }`, "introspection disabled"},
		{"introspection", `{ __schema { queryType { name } } }`, "introspection disabled"},
		{"null for what must not be null", `{ strictItem(id: "1") { id } }`, "cannot return null for non-null field"},
		{"complexity", `{ a: text b: text c: text d: text e: text }`, "exceeds the limit of 4"},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			stub := failing(nil)
			stub.QueryResolver.Item = func(context.Context, string) (*model.Item, error) { return &model.Item{ID: "1"}, nil }
			stub.QueryResolver.StrictItem = func(context.Context, string) (*model.Item, error) { return nil, nil }
			server := handler.New(testgraph.NewSchema(stub))
			server.AddTransport(transport.POST{})
			server.Use(extension.FixedComplexityLimit(4))
			logger, records := newLog(t)
			server.SetErrorPresenter(gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger)))

			response := testgraph.Post(t.Context(), t, server, row.query)

			require.Len(t, response.Errors, 1)
			assert.Contains(t, response.Errors[0].Message, row.want)
			assert.Empty(t, records())
		})
	}
}

func TestABrokenRequestIsNotHidden(t *testing.T) {
	server, records := masked(t, failing(nil), nil)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{`))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()

	server.ServeHTTP(recorder, request)

	assert.Contains(t, recorder.Body.String(), "json request body could not be decoded")
	assert.Empty(t, records())
}

func TestWhatAScalarSaysOfAnArgumentIsNotHidden(t *testing.T) {
	server := testgraph.Serve(testgraph.NewFederatedSchema(new(federated.Stub)))
	logger, records := newLog(t)
	server.SetErrorPresenter(gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger)))

	response := testgraph.Post(t.Context(), t, server, `{ _entities(representations: [{}, "x"]) { __typename } }`)

	require.Len(t, response.Errors, 1)
	assert.Equal(t, "string is not a map", response.Errors[0].Message)
	assert.Equal(t, "_entities.representations[1]", response.Errors[0].Path.String())
	assert.Empty(t, records())
}

func TestTheErrorOfAnEntityIsHidden(t *testing.T) {
	stub := new(federated.Stub)
	stub.EntityResolver.FindProductByID = func(context.Context, string) (*model.Product, error) { return nil, errSecret }
	server := testgraph.Serve(testgraph.NewFederatedSchema(stub))
	logger, records := newLog(t)
	server.SetErrorPresenter(gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger)))

	response := testgraph.Post(t.Context(), t, server, `{ _entities(representations: [{__typename: "Product", id: "1"}]) { __typename } }`)

	require.Len(t, response.Errors, 1)
	requireInternal(t, response.Errors[0])
	require.Len(t, records(), 1)
	assert.Contains(t, records()[0].Error, errSecret.Error())
	assert.Equal(t, "Query._entities", records()[0].Field)
}

func TestOnlyWhatIsWrongWithAnArgumentIsNotHidden(t *testing.T) {
	definition := &ast.FieldDefinition{Arguments: ast.ArgumentDefinitionList{{Name: "n"}}}
	fc := &graphql.FieldContext{
		Object: "Query",
		Field:  graphql.CollectedField{Field: &ast.Field{Name: "items", Alias: "items", Definition: definition}},
	}
	logger, _ := newLog(t)
	ctx := graphql.WithFieldContext(field(gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))), fc)

	graphql.AddError(ctx, fmt.Errorf("panic: %w", errSecret))
	graphql.AddError(ctx, gqlerror.WrapPath(append(fc.Path(), ast.PathName("m")), errSecret))
	graphql.AddError(ctx, gqlerror.WrapPath(append(fc.Path(), ast.PathName("n")), errSecret))
	fc.Args = map[string]any{}
	graphql.AddError(ctx, gqlerror.WrapPath(append(fc.Path(), ast.PathName("n")), errSecret))

	presented := graphql.GetErrors(ctx)
	require.Len(t, presented, 4)
	for i, internal := range []bool{true, true, false, true} {
		assert.Equal(t, internal, presented[i].Extensions["code"] == gqlerrors.CodeInternal, i)
	}
}

func TestOnlyThatIntrospectionIsDisabledIsNotHidden(t *testing.T) {
	presenter := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(slog.New(slog.DiscardHandler)))
	for name, internal := range map[string]bool{"__schema": false, "text": true} {
		ctx := graphql.WithFieldContext(t.Context(), &graphql.FieldContext{
			Object: "Query", Field: graphql.CollectedField{Field: &ast.Field{Name: name, Alias: name}},
		})

		requireHidden(t, presenter(ctx, gqlerror.Wrap(errSecret)))
		disabled := presenter(ctx, gqlerror.Wrap(errors.New("introspection disabled")))
		assert.Equal(t, internal, disabled.Extensions["code"] == gqlerrors.CodeInternal, name)
	}
}

func TestTheLogNamesTheFieldOfAListsElement(t *testing.T) {
	logger, records := newLog(t)
	ctx := graphql.WithFieldContext(t.Context(), &graphql.FieldContext{
		Object: "Query", Field: graphql.CollectedField{Field: &ast.Field{Name: "items", Alias: "things"}},
	})
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: new(3)})

	requireHidden(t, gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))(ctx, errSecret))

	require.Len(t, records(), 1)
	assert.Equal(t, "Query.items", records()[0].Field)
	assert.Equal(t, "things[3]", records()[0].Path)
}

func TestTheErrorOfAClientThatHasGoneIsHiddenAndLoggedForDebugging(t *testing.T) {
	logger, records := newLog(t)
	presenter := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))
	gone, cancel := context.WithCancel(t.Context())
	cancel()

	requireHidden(t, presenter(gone, fmt.Errorf("prices: %w", context.Canceled)))
	requireHidden(t, presenter(t.Context(), fmt.Errorf("prices: %w", context.Canceled)))
	requireHidden(t, presenter(gone, errSecret))

	logged := records()
	require.Len(t, logged, 3)
	assert.Equal(t, []string{"DEBUG", "ERROR", "ERROR"}, []string{logged[0].Level, logged[1].Level, logged[2].Level})
}

func TestWithoutALoggerTheDefaultOneLogs(t *testing.T) {
	logger, records := newLog(t)
	presenter := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(nil))
	before := slog.Default()
	slog.SetDefault(logger)
	t.Cleanup(func() { slog.SetDefault(before) })

	requireHidden(t, presenter(t.Context(), errSecret))

	assert.Len(t, records(), 1)
}

func TestTheLogSaysWhatAFailedFallbackWasGiven(t *testing.T) {
	logger, records := newLog(t)

	requireHidden(t, gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))(t.Context(),
		&policy.FallbackError{Err: errors.New("no cached quotes"), Cause: errSecret}))

	require.Len(t, records(), 1)
	assert.Equal(t, "no cached quotes", records()[0].Error)
	assert.Equal(t, errSecret.Error(), records()[0].Cause)
}

func TestAServersInterceptorStillReachesWhatIsHidden(t *testing.T) {
	server, _ := masked(t, failing(errSecret), nil)
	var reached []error
	server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		response := next(ctx)
		for _, err := range response.Errors {
			reached = append(reached, err.Err)
		}
		return response
	})

	response := testgraph.Post(t.Context(), t, server, `{ text }`)

	requireInternal(t, response.Errors[0])
	require.Len(t, reached, 1)
	assert.ErrorIs(t, reached[0], errSecret)
}

func TestMaskedTwiceIsLoggedOnce(t *testing.T) {
	outer, outerRecords := newLog(t)
	inner, innerRecords := newLog(t)
	presenter := gqlerrors.Presenter(gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(inner)), gqlerrors.MaskUnknown(outer))

	requireHidden(t, presenter(t.Context(), errSecret))

	assert.Len(t, outerRecords(), 1)
	assert.Empty(t, innerRecords())
}

func TestNoErrorIsMaskedAsNone(t *testing.T) {
	logger, records := newLog(t)

	assert.Nil(t, gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))(t.Context(), nil))
	assert.Empty(t, records())
}
