package testgraph

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Response is one decoded GraphQL response.
type Response struct {
	// Status is the HTTP status, and Header the HTTP response's header.
	Status int         `json:"-"`
	Header http.Header `json:"-"`

	// Data is nil when the response says null.
	Data       map[string]any `json:"data"`
	Errors     gqlerror.List  `json:"errors"`
	Extensions map[string]any `json:"extensions"`

	// Label, Path and HasNext are set in what @defer delivers later.
	Label   string   `json:"label"`
	Path    ast.Path `json:"path"`
	HasNext bool     `json:"hasNext"`
}

// Post sends query by POST with ctx as the request's context.
func Post(ctx context.Context, t testing.TB, server http.Handler, query string) Response {
	t.Helper()
	return decode(t, serve(server, newPost(ctx, t, query, "application/json")))
}

// Get sends query by GET with ctx as the request's context.
func Get(ctx context.Context, t testing.TB, server http.Handler, query string) Response {
	t.Helper()
	target := "/?" + url.Values{"query": {query}}.Encode()
	return decode(t, serve(server, httptest.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)))
}

// PostDeferred sends query by POST and returns the initial response followed by
// those of its deferred fragments, once the last has arrived.
func PostDeferred(ctx context.Context, t testing.TB, server http.Handler, query string) []Response {
	t.Helper()
	result := serve(server, newPost(ctx, t, query, "multipart/mixed"))
	_, params, err := mime.ParseMediaType(result.Header.Get("Content-Type"))
	if err != nil {
		t.Fatalf("content type: %v", err)
	}
	var responses []Response
	for parts := multipart.NewReader(result.Body, params["boundary"]); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return responses
		}
		if err != nil {
			t.Fatalf("part %d: %v", len(responses), err)
		}
		var payload struct {
			Response
			Incremental []Response `json:"incremental"`
		}
		if err := json.NewDecoder(part).Decode(&payload); err != nil {
			t.Fatalf("part %d: %v", len(responses), err)
		}
		if payload.Incremental == nil {
			payload.Incremental = []Response{payload.Response}
		}
		responses = append(responses, payload.Incremental...)
	}
}

// Stream sends query by POST and returns the server-sent events, once the stream
// has ended: because its channel was closed or because ctx is done.
func Stream(ctx context.Context, t testing.TB, server http.Handler, query string) []Response {
	t.Helper()
	result := serve(server, newPost(ctx, t, query, "text/event-stream"))
	var responses []Response
	for lines := bufio.NewScanner(result.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var response Response
			if err := json.Unmarshal([]byte(data), &response); err != nil {
				t.Fatalf("event %d: %v", len(responses), err)
			}
			responses = append(responses, response)
		}
	}
	return responses
}

func newPost(ctx context.Context, t testing.TB, query, accept string) *http.Request {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	return request
}

func serve(server http.Handler, request *http.Request) *http.Response {
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, request)
	return recorder.Result()
}

func decode(t testing.TB, result *http.Response) Response {
	t.Helper()
	response := Response{Status: result.StatusCode, Header: result.Header}
	if err := json.NewDecoder(result.Body).Decode(&response); err != nil {
		t.Fatalf("decode: %v", err)
	}
	return response
}
