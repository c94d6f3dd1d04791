package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Dashboard is the handler, made by [New]. It keeps what has happened since then, so make it with the registry, at boot.
// It is safe for concurrent use.
//
// Mount it at a path that ends in a slash, with or without [http.StripPrefix]:
//
//	mux.Handle("/resilience/", dashboard)
type Dashboard struct {
	registry    *policy.Registry
	config      config
	recorder    *recorder
	breakerOf   map[string]string // the breakers of presets, by the preset's name as it is shown
	name        string            // of the server
	crossOrigin *http.CrossOriginProtection

	snapshots *shared
	plan      *shared
	last      func() []byte // the snapshot of when the dashboard was closed

	unsubscribe func()
	closed      chan struct{}
	close       sync.Once
}

// New returns a dashboard of the registry's policies, which watches them until [Dashboard.Close]. Its error tells
// all that is wrong with its arguments.
//
// It costs each call a fraction of a microsecond, and some 50 KB of memory for each policy, of 250 at most: the
// calls of further ones are shown together. Everything else is done only while somebody looks, and once
// for all who do.
func New(registry *policy.Registry, options ...Option) (*Dashboard, error) {
	c, err := configured(options)
	if registry == nil {
		err = errors.Join(errors.New("the registry is nil"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("dashboard.New: %w", err)
	}
	name, _ := os.Hostname() // or "", which is shown as nothing
	d := &Dashboard{
		registry: registry, config: c, recorder: newRecorder(c.errorText), breakerOf: breakersOf(registry), name: name,
		crossOrigin: http.NewCrossOriginProtection(), closed: make(chan struct{}),
	}
	d.snapshots = newShared(time.Second, func(now time.Time) []byte { return encoded(d.snapshotAt(now)) })
	d.plan = newShared(5*time.Second, func(time.Time) []byte { return encodedPlan(c) })
	d.last = sync.OnceValue(func() []byte { return encoded(d.snapshotAt(time.Now())) })
	d.unsubscribe = registry.Subscribe(d.recorder.on, kinds...)
	return d, nil
}

// Close ends the streams of all viewers, which a server's Shutdown would wait for, and watches no more. Viewers are told
// first how everything is by then: of a server that ends they would not hear otherwise. Give it to
// [http.Server.RegisterOnShutdown]. Afterwards the snapshot can still be asked for: states of breakers and loads are as of
// then, and all else as it was. A second Close does nothing.
func (d *Dashboard) Close() {
	d.close.Do(func() {
		d.unsubscribe()
		close(d.closed)
	})
}

// ServeHTTP answers by the last segment of the path, so that it need not know where it is mounted.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	switch r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] {
	case "":
		only(d.page, http.MethodGet, http.MethodHead)(w, r)
	case "stream":
		only(d.stream, http.MethodGet, http.MethodHead)(w, r)
	case "snapshot":
		only(d.snapshot, http.MethodGet, http.MethodHead)(w, r)
	case trip.name:
		only(d.control(trip), http.MethodPost)(w, r)
	case reset.name:
		only(d.control(reset), http.MethodPost)(w, r)
	default:
		http.Error(w, "there is nothing here: the page is at the path that ends in a slash", http.StatusNotFound)
	}
}

// only refuses other methods.
func only(next http.HandlerFunc, methods ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(methods, r.Method) {
			next(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		http.Error(w, r.Method+" is not for this", http.StatusMethodNotAllowed)
	}
}

// snapshot answers with the snapshot and the plan.
func (d *Dashboard) snapshot(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	text := d.snapshots.get()
	_, _ = fmt.Fprintf(w, "%s,\"plan\":%s}\n", text[:len(text)-1], d.plan.get())
}

// encodedPlan is the plan in JSON, null if there is none. One that panics is told of in its place: what else is shown
// does not need it.
func encodedPlan(c config) (text []byte) {
	if c.plan == nil {
		return []byte("null")
	}
	defer func() {
		if r := recover(); r != nil {
			c.logger.Error("the function given to dashboard.WithPlan panicked", "panic", fmt.Sprint(r))
			text = encoded(map[string]string{"error": "the plan's function panicked: see the server's log"})
		}
	}()
	return encoded(c.plan())
}

// encoded is v in JSON, in one line.
func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil { // which nothing of what is encoded can cause, but for a plan's settings that somebody else encodes
		return encoded(map[string]string{"error": err.Error()})
	}
	return text
}
