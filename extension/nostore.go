package extension

import (
	"context"
	"net/http"
	"sync/atomic"
)

// NoStore keeps caches from storing answers that are worse than they might be: it sets
// "Cache-Control: no-store" on an answer to a GET request that has errors, of which a fallback
// answered a field, or whose status is 400 or more, whatever else the server says about caching.
// Put it around a server that uses an [Extension]; without one, only the status counts.
func NoStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("Upgrade") != "" { // a WebSocket takes the connection
			next.ServeHTTP(w, r)
			return
		}
		delayed := &delayedWriter{ResponseWriter: w}
		next.ServeHTTP(delayed, r.WithContext(context.WithValue(r.Context(), impairedKey{}, &delayed.impaired)))
		delayed.begin()
	})
}

type impairedKey struct{}

// impair tells the NoStore around the server, if there is one, not to let the answer be stored.
func impair(ctx context.Context) {
	if impaired, ok := ctx.Value(impairedKey{}).(*atomic.Bool); ok {
		impaired.Store(true)
	}
}

// delayedWriter sends the header with the first of the body: gqlgen writes the status of some
// answers before it makes them.
type delayedWriter struct {
	http.ResponseWriter
	impaired atomic.Bool
	status   int // 0: the default
	begun    bool
}

func (w *delayedWriter) WriteHeader(status int) {
	switch {
	case status < http.StatusOK:
		w.ResponseWriter.WriteHeader(status)
	case w.status == 0:
		w.status = status
	}
}

func (w *delayedWriter) Write(body []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(body)
}

// Flush is for streams, which look for it.
func (w *delayedWriter) Flush() {
	w.begin()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // if it can
}

// Unwrap is for [http.ResponseController].
func (w *delayedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *delayedWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	if w.impaired.Load() || w.status >= http.StatusBadRequest {
		w.Header().Set("Cache-Control", "no-store")
	}
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
}
