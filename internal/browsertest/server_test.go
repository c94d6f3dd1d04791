package browsertest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

var errDown = errors.New("the carrier is down")

// breaking is a policy whose breaker opens at the third failure of four calls, for a minute.
var breaking = policy.Spec{
	CircuitBreaker: &policy.CircuitBreakerSpec{
		MinimumCalls: new(4), FailureRate: new(75), Window: policy.CountWindow(4), OpenDuration: new(time.Minute),
	},
}

// watched is a registry with a dashboard that watches it.
type watched struct {
	*dashboard.Dashboard
	t        testing.TB
	registry *policy.Registry
}

func watch(t testing.TB, presets map[string]policy.Spec, options ...dashboard.Option) watched {
	t.Helper()
	registry, err := policy.NewRegistry(policy.Config{Presets: presets})
	require.NoError(t, err)
	options = append([]dashboard.Option{dashboard.WithLogger(slog.New(slog.DiscardHandler))}, options...)
	d, err := dashboard.New(registry, options...)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return watched{d, t, registry}
}

// call calls the preset that often, from the source.
func (w watched) call(preset, source string, times int, err error) {
	w.t.Helper()
	p, unknown := w.registry.Preset(preset)
	require.NoError(w.t, unknown)
	for range times {
		_, _ = policy.Execute(context.Background(), p.WithSource(source), func(context.Context) (string, error) { return "quote", err })
	}
}

func (w watched) breaker(name string) *policy.CircuitBreaker {
	w.t.Helper()
	breaker, ok := w.registry.CircuitBreaker(name)
	require.True(w.t, ok, "no breaker %q", name)
	return breaker
}

// process stands for a server process: ended, it has lost all connections.
type process struct {
	address string
	end     func()
}

// serve serves the handler at the address, at a free port if that is "".
func serve(t testing.TB, address string, handler http.Handler) process {
	t.Helper()
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(listener) }()
	end := func() { _ = server.Close() }
	t.Cleanup(end)
	return process{listener.Addr().String(), end}
}

// page is where the dashboard's page is.
func (p process) page() string { return "http://" + p.address + "/resilience/" }

// silenced is an answer that nothing more comes of while it is mute, and whose connection is not closed.
type silenced struct {
	http.ResponseWriter
	mute *atomic.Bool
	end  <-chan struct{}
}

func (s silenced) Write(p []byte) (int, error) {
	if s.mute.Load() {
		<-s.end
		return 0, io.ErrClosedPipe
	}
	return s.ResponseWriter.Write(p)
}

func (s silenced) Unwrap() http.ResponseWriter { return s.ResponseWriter }
