package extension_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
)

// cached is a server's handler that says of everything that it may be cached.
func cached(server http.Handler) http.Handler {
	return extension.NoStore(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=60")
		server.ServeHTTP(w, r)
	}))
}

func TestAnswersWorseThanTheyMightBeAreNotStored(t *testing.T) {
	underEachHook(t, func(t *testing.T, h hook) {
		stub := textStub(failing(errDown))
		stub.QueryResolver.Timed = answering("live")
		stub.QueryResolver.Any = func(context.Context) (any, error) { return nil, errDown }
		server := h.protect(stub, newRegistry(t, nil), answerWith("Query.text", new("cached")), extension.WithoutDegraded())
		for name, row := range map[string]struct {
			query, want string
			status      int
		}{
			"a good answer":            {`{ timed }`, "public, max-age=60", http.StatusOK},
			"a fallback's":             {`{ timed text }`, "no-store", http.StatusOK},
			"one with a failed field":  {`{ timed any }`, "no-store", http.StatusOK},
			"one to an unknown query":  {`{ unknown }`, "no-store", http.StatusUnprocessableEntity},
			"one to no query at all":   {`{`, "no-store", http.StatusUnprocessableEntity},
			"one to a GET of mutation": {`mutation { save }`, "no-store", http.StatusNotAcceptable},
		} {
			response := getFrom(t, cached(server), "/?"+url.Values{"query": {row.query}}.Encode())
			require.Equal(t, row.want, response.Header().Get("Cache-Control"), name)
			require.Equal(t, row.status, response.Code, name)
			require.NotEmpty(t, response.Body.String(), name)
		}
	})
}

func TestTheAnswerToABudgetThatCanNotBeReadIsNotStored(t *testing.T) {
	server, _ := budgeted(t, hook{}, textStub(answering("live")), extension.Budget{Header: "X-Time-Left"}, nil)
	handler := cached(withHeader(server, "X-Time-Left", "soon")) // which is in no cache's key
	response := getFrom(t, handler, "/?"+url.Values{"query": {`{ text }`}}.Encode())
	require.Contains(t, response.Body.String(), "BAD_USER_INPUT")
	require.Equal(t, "no-store", response.Header().Get("Cache-Control"))
}

func TestAnAnswerToWhichAnotherExtensionAddsAnErrorIsNotStored(t *testing.T) {
	server := testgraph.NewServer(textStub(answering("live")))
	server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		response := next(ctx)
		response.Errors = append(response.Errors, gqlerror.Errorf("not quite"))
		return response
	})
	server.Use(extension.New(newRegistry(t, nil)))
	response := getFrom(t, cached(server), "/?"+url.Values{"query": {`{ text }`}}.Encode())
	require.Contains(t, response.Body.String(), "not quite")
	require.Equal(t, "no-store", response.Header().Get("Cache-Control"))
}

func TestAnAnswerThatPanicsIsNotStored(t *testing.T) {
	server := testgraph.Serve(testgraph.NewNoPanicSchema(textStub(func(context.Context) (*string, error) { panic("boom") })))
	server.Use(extension.New(newRegistry(t, nil)))
	response := getFrom(t, cached(server), "/?"+url.Values{"query": {`{ text }`}}.Encode())
	require.Equal(t, http.StatusInternalServerError, response.Code)
	require.Equal(t, "no-store", response.Header().Get("Cache-Control"))
}

func getFrom(t testing.TB, handler http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
	return recorder
}

func TestOnlyAnswersToGetAreMarked(t *testing.T) {
	server := hook{}.protect(textStub(failing(errDown)), newRegistry(t, nil), answerWith("Query.text", new("cached")))
	response := testgraph.Post(t.Context(), t, cached(server), `{ text }`)
	require.Equal(t, "public, max-age=60", response.Header.Get("Cache-Control"))
}

func TestNoStoreLeavesOtherAnswersAsTheyAre(t *testing.T) {
	for name, row := range map[string]struct {
		handler http.HandlerFunc
		status  int
		body    string
	}{
		"nothing":           {func(http.ResponseWriter, *http.Request) {}, http.StatusOK, ""},
		"a status alone":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, http.StatusNoContent, ""},
		"the first of two":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); w.WriteHeader(202) }, http.StatusCreated, ""},
		"a body":            {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ready")) }, http.StatusOK, "ready"},
		"a flushed status":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202); w.(http.Flusher).Flush() }, http.StatusAccepted, ""},
		"through Unwrap":    {func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() }, http.StatusOK, ""},
		"a hint beforehand": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(201) }, http.StatusCreated, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(extension.NoStore(row.handler))
			defer server.Close()
			response, err := server.Client().Get(server.URL)
			require.NoError(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, row.body, string(body))
			require.Equal(t, row.status, response.StatusCode)
			require.Empty(t, response.Header.Get("Cache-Control"))
		})
	}
}
