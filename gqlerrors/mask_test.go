package gqlerrors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
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

// errSecret is what no client may see a word of.
var errSecret = errors.New("dial tcp 10.0.0.7:5432: refused")

// record is a line of the log.
type record struct {
	Level    string `json:"level"`
	Instance string `json:"instance"`
	Field    string `json:"field"`
	Path     string `json:"path"`
	Error    string `json:"error"`
	Cause    string `json:"cause"`
}

// masked serves stub with masked errors, and returns what reads the log.
func masked(t *testing.T, stub *testgraph.Stub, next graphql.ErrorPresenterFunc) (*handler.Server, func() []record) {
	t.Helper()
	server := testgraph.NewServer(stub)
	logger, records := newLog(t)
	server.SetErrorPresenter(gqlerrors.Presenter(next, gqlerrors.MaskUnknown(logger)))
	return server, records
}

func newLog(t *testing.T) (*slog.Logger, func() []record) {
	t.Helper()
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return logger, func() (records []record) {
		for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
			if line == "" {
				continue
			}
			var r record
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			records = append(records, r)
		}
		return records
	}
}

// failing resolves Query.text with err, and Query.item with an item.
func failing(err error) *testgraph.Stub {
	stub := new(testgraph.Stub)
	stub.QueryResolver.Text = func(context.Context) (*string, error) { return nil, err }
	return stub
}

var instanceID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// requireInternal requires err to be hidden, and returns its instance.
func requireInternal(t *testing.T, err *gqlerror.Error) string {
	t.Helper()
	require.Equal(t, "Internal server error", err.Message)
	instance, _ := err.Extensions["instance"].(string)
	require.Regexp(t, instanceID, instance)
	require.EqualValues(t, map[string]any{"code": gqlerrors.CodeInternal, "httpStatus": 500.0, "instance": instance}, err.Extensions)
	return instance
}

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

// requireHidden requires err, which was not on the wire, to be hidden.
func requireHidden(t *testing.T, err *gqlerror.Error) {
	t.Helper()
	require.NotNil(t, err)
	require.Equal(t, gqlerrors.CodeInternal, err.Extensions["code"])
	require.Equal(t, "Internal server error", err.Message)
	require.NotContains(t, wire(t, err), "refused")
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

// outOfStock is an error type of an application.
type outOfStock struct{ left int }

func (e *outOfStock) Error() string { return fmt.Sprintf("only %d left at 10.0.0.7", e.left) }

func TestTheNextPresenterCannotShowByAccidentWhatIsHidden(t *testing.T) {
	for _, row := range []struct {
		behaviour string
		next      graphql.ErrorPresenterFunc
		code      any // on the wire
		message   string
		logged    bool
	}{
		{"it presents as gqlgen does", graphql.DefaultErrorPresenter, gqlerrors.CodeInternal, "Internal server error", true},
		{"it sends the error's text", func(ctx context.Context, err error) *gqlerror.Error {
			return gqlerror.ErrorPathf(graphql.GetPath(ctx), "failed: %v", err)
		}, nil, "failed: input:1:3: text Internal server error", true},
		{"it wraps", func(_ context.Context, err error) *gqlerror.Error {
			return gqlerror.Wrap(err)
		}, gqlerrors.CodeInternal, "Internal server error", true},
		{"it wraps what lies behind", func(_ context.Context, err error) *gqlerror.Error {
			found, _ := errors.AsType[*outOfStock](err)
			return gqlerror.Wrap(found)
		}, gqlerrors.CodeInternal, "Internal server error", true},
		{"it says more, in its own words", func(ctx context.Context, err error) *gqlerror.Error {
			presented := graphql.DefaultErrorPresenter(ctx, err)
			if found, ok := errors.AsType[*outOfStock](err); ok {
				presented.Message = fmt.Sprintf("Only %d left", found.left)
			}
			return presented
		}, gqlerrors.CodeInternal, "Only 2 left", true},
		{"it answers with a code", func(ctx context.Context, err error) *gqlerror.Error {
			found, _ := errors.AsType[*outOfStock](err)
			return &gqlerror.Error{
				Path: graphql.GetPath(ctx), Message: fmt.Sprintf("Only %d left", found.left), Extensions: map[string]any{"code": "OUT_OF_STOCK"},
			}
		}, "OUT_OF_STOCK", "Only 2 left", false},
		{"it says nothing", func(context.Context, error) *gqlerror.Error { return nil }, nil, "", true},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			server, records := masked(t, failing(&outOfStock{left: 2}), row.next)

			response := testgraph.Post(t.Context(), t, server, `{ text }`)

			if row.message == "" {
				assert.Empty(t, response.Errors)
			} else {
				require.Len(t, response.Errors, 1)
				assert.Equal(t, row.message, response.Errors[0].Message)
				assert.Equal(t, row.code, response.Errors[0].Extensions["code"])
			}
			if !row.logged {
				assert.Empty(t, records())
				return
			}
			require.Len(t, records(), 1)
			assert.Equal(t, "only 2 left at 10.0.0.7", records()[0].Error)
			if instance, ok := response.Errors[:min(1, len(response.Errors))], row.code != nil; ok {
				assert.Equal(t, records()[0].Instance, instance[0].Extensions["instance"])
			}
		})
	}
}

func TestWhatTheNextPresenterMakesOfAnErrorForClientsIsHiddenToo(t *testing.T) {
	server, records := masked(t, failing(gqlerror.Errorf("no such order")), func(context.Context, error) *gqlerror.Error {
		return gqlerror.Wrap(errSecret)
	})

	response := testgraph.Post(t.Context(), t, server, `{ text }`)

	require.Len(t, response.Errors, 1)
	instance := requireInternal(t, response.Errors[0])
	require.Len(t, records(), 1)
	assert.Equal(t, instance, records()[0].Instance)
	assert.Equal(t, errSecret.Error(), records()[0].Error)
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
