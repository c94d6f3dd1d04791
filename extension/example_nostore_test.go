package extension_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
)

// The server lets caches store answers, but for those with errors.
func ExampleNoStore() {
	resolvers := &testgraph.Stub{}
	resolvers.QueryResolver.Text = func(context.Context) (*string, error) {
		return nil, errors.New("connection refused")
	}
	server := testgraph.Serve(testgraph.NewGuardedSchema(resolvers))
	server.Use(extension.New(exampleRegistry()))
	handler := extension.NoStore(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		server.ServeHTTP(w, r)
	}))

	for _, query := range []string{`{ __typename }`, `{ text }`} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/query?query="+url.QueryEscape(query), nil))
		fmt.Println(query, recorder.Header().Get("Cache-Control"))
	}
	// Output:
	// { __typename } max-age=60
	// { text } no-store
}
