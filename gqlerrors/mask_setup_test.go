package gqlerrors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
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

// failing resolves Query.text with err.
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

// requireHidden requires err, which was not on the wire, to be hidden.
func requireHidden(t *testing.T, err *gqlerror.Error) {
	t.Helper()
	require.NotNil(t, err)
	require.Equal(t, gqlerrors.CodeInternal, err.Extensions["code"])
	require.Equal(t, "Internal server error", err.Message)
	require.NotContains(t, wire(t, err), "refused")
}
