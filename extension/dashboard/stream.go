package dashboard

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// patience is how long a viewer may take for what is written at once. One that has gone without a word is
// noticed by that; and a server's WriteTimeout, which is for answers that end, does not end the stream.
const patience = 10 * time.Second

// stream sends a snapshot each second, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html),
// until the viewer goes or the dashboard is closed, and then a last one. Each is whole: whoever comes back has missed
// nothing.
func (d *Dashboard) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case <-d.closed:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
		return
	default:
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies that hold answers back until they are long enough
	if r.Method == http.MethodHead {
		return
	}
	to := viewer{w, http.NewResponseController(w)}
	if errors.Is(to.controller.Flush(), http.ErrNotSupported) {
		http.Error(w, "there is no live page: what this server wraps the dashboard in, such as http.TimeoutHandler, can't send an answer piece by piece", http.StatusInternalServerError)
		return
	}
	var plan []byte
	for {
		if now := d.plan.get(); !bytes.Equal(now, plan) {
			plan = now
			if to.send("plan", plan) != nil {
				return
			}
		}
		if to.send("snapshot", d.snapshots.get()) != nil {
			return
		}
		select {
		case <-time.After(d.snapshots.next()):
		case <-r.Context().Done():
			return
		case <-d.closed:
			_ = to.send("snapshot", d.last())
			return
		}
	}
}

// viewer is somebody who gets a stream.
type viewer struct {
	w          http.ResponseWriter
	controller *http.ResponseController
}

// send writes an event whose data is one line.
func (v viewer) send(event string, data []byte) error {
	_ = v.controller.SetWriteDeadline(time.Now().Add(patience)) // which some writers can't
	if _, err := fmt.Fprintf(v.w, "event: %s\ndata: %s\n\n", event, data); err != nil {
		return err
	}
	return v.controller.Flush()
}
