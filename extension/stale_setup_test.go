package extension_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
)

// serving returns a server of the schema that uses an extension.
func serving(t testing.TB, schema graphql.ExecutableSchema, options ...extension.Option) http.Handler {
	t.Helper()
	server := testgraph.Serve(schema)
	server.Use(extension.New(newRegistry(t, nil), options...))
	return server
}

// dependency is what resolvers ask in these tests.
type dependency struct {
	mu  sync.Mutex
	err error // nil: it is up
	n   int   // calls so far
}

func (d *dependency) goes(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

// answer tells apart what it answered.
func (d *dependency) answer(to string) (*string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	if d.err != nil {
		return nil, d.err
	}
	return new(fmt.Sprintf("%s %d", to, d.n)), nil
}

func (d *dependency) text(context.Context) (*string, error) { return d.answer("text") }

// same is the key of data that is the same for everybody.
func same(context.Context, map[string]any) (string, bool) { return "", true }

// staleText keeps one value of Query.text for a minute.
func staleText(options ...extension.FallbackOption) extension.Option {
	return extension.WithStale("Query.text", extension.Stale{MaxAge: time.Minute, MaxEntries: 1, Key: same}, options...)
}

type userKey struct{}

// as is a request's context with a user.
func as(t *testing.T, user string) context.Context {
	return context.WithValue(t.Context(), userKey{}, user)
}

// byUser keys by user, and nothing of those who have not logged in.
func byUser(ctx context.Context, _ map[string]any) (string, bool) {
	if user, ok := ctx.Value(userKey{}).(string); ok {
		return user, true
	}
	return "ann", false // whatever it is
}

// byItem keys a field of an item.
func byItem(ctx context.Context, _ map[string]any) (string, bool) {
	item, ok := extension.Parent[*model.Item](ctx)
	return item.ID, ok
}
