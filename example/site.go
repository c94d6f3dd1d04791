package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gqlresilience/gqlresilience/example/carrier"
	"github.com/gqlresilience/gqlresilience/example/pause"
)

// site is a shop that is being served, with the stub of the carrier unless there is a real one.
type site struct {
	*shop
	url        string // "http://127.0.0.1:8080"
	carrierURL string
	notice     time.Duration

	ready  atomic.Bool
	failed chan error // gets the error of a server that ended by itself

	server         *http.Server
	requests       sync.WaitGroup // under way, WebSockets included
	cancelRequests context.CancelFunc
	jobs           sync.WaitGroup
	cancelJobs     context.CancelFunc
	stub           *http.Server // nil with a real carrier
}

// serve runs a site until ctx ends, and shuts it down.
func serve(ctx context.Context, options options, stdout io.Writer, logger *slog.Logger) error {
	if options.trace {
		options.traces = stdout
	}
	site, err := openSite(options, logger)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "store:   %s (GraphQL at /query, a live page at /resilience/, metrics at /metrics)\n", site.url)
	fmt.Fprintf(stdout, "carrier: %s\n", site.carrierURL)
	select {
	case <-ctx.Done():
		logger.Info("shutting down")
	case err = <-site.failed:
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), options.grace)
	defer cancel()
	return errors.Join(err, site.shutDown(deadline))
}

// openSite starts a site. It answers requests when openSite has returned.
func openSite(options options, logger *slog.Logger) (*site, error) {
	s := &site{carrierURL: options.carrierURL, notice: options.notice, failed: make(chan error, 2)}
	if s.carrierURL == "" {
		listener, err := net.Listen("tcp", options.carrierAddr)
		if err != nil {
			return nil, fmt.Errorf("-carrier-addr: %w", err)
		}
		s.carrierURL = "http://" + listener.Addr().String()
		s.stub = newServer(context.Background(), carrier.NewStub(), logger)
		go s.run(s.stub, listener)
	}
	if err := s.openStore(options, logger); err != nil {
		if s.stub != nil {
			s.stub.Close()
		}
		return nil, err
	}
	return s, nil
}

func (s *site) openStore(options options, logger *slog.Logger) error {
	client, err := carrier.NewClient(s.carrierURL, nil)
	if err != nil {
		return err
	}
	s.shop, err = newShop(options, client, logger)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", options.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	s.url = "http://" + listener.Addr().String()

	var requests, jobs context.Context
	requests, s.cancelRequests = context.WithCancel(context.Background())
	jobs, s.cancelJobs = context.WithCancel(context.Background())
	s.server = newServer(requests, s.counted(newMux(s.graphQL, s.dashboard, s.telemetry.metrics, s.ready.Load)), logger)
	s.server.RegisterOnShutdown(s.dashboard.Close) // whose viewers would keep it from ending
	s.ready.Store(true)
	go s.run(s.server, listener)
	if options.reprice > 0 {
		s.jobs.Go(func() { s.repricer.run(jobs, options.reprice) })
	}
	return nil
}

// newServer sets no limit to the time that an answer takes, since streams have no end.
func newServer(ctx context.Context, handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
	}
}

func (s *site) run(server *http.Server, listener net.Listener) {
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		s.failed <- err
	}
}

func (s *site) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		defer s.requests.Done()
		next.ServeHTTP(w, r)
	})
}

// shutDown ends the site: no longer ready, then no new connections, then the requests under way
// answered, then the background job stopped, then no call abandoned by its policy running, then
// nothing left to tell of it. What is not over when ctx ends is cut off, and is an error.
func (s *site) shutDown(ctx context.Context) error {
	s.ready.Store(false)
	pause.For(ctx, s.notice)

	// Streams have no end of their own; their source's end completes them in good order.
	s.store.CloseEvents()
	drained := s.server.Shutdown(ctx)
	// Shutdown knows nothing of WebSockets. They close when the context of their request ends;
	// a client that gets no "complete" for its subscription knows to connect anew.
	s.cancelRequests()
	answered := waitFor(ctx, s.requests.Wait)
	s.server.Close()

	s.cancelJobs()
	stopped := waitFor(ctx, s.jobs.Wait)
	returned := s.registry.Wait(ctx)
	told := s.telemetry.shutDown(ctx)
	if s.stub != nil {
		s.stub.Close()
	}
	return errors.Join(
		explain("draining requests", drained),
		explain("closing WebSockets", answered),
		explain("stopping the background job", stopped),
		explain("waiting for abandoned calls", returned),
		explain("ending telemetry", told),
	)
}

// waitFor returns when block has, or with ctx's error when that ends first.
func waitFor(ctx context.Context, block func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		block()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
