package carrier

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gqlresilience/gqlresilience/example/pause"
)

// Mode is how the [Stub] answers.
type Mode string

const (
	ModeOK     Mode = "ok"     // answers at once
	ModeHang   Mode = "hang"   // never answers
	ModeFail   Mode = "fail"   // 500
	ModeSlow   Mode = "slow"   // answers after a second
	ModeFlaky  Mode = "flaky"  // 503 for the first call and every second one after it
	ModeBusy   Mode = "busy"   // 429, with a Retry-After of a second
	ModeRefuse Mode = "refuse" // 422: the carrier does not take this parcel
)

var modes = []Mode{ModeOK, ModeHang, ModeFail, ModeSlow, ModeFlaky, ModeBusy, ModeRefuse}

// slowness is what [ModeSlow] adds to an answer.
const slowness = time.Second

// Calls counts what the [Stub] was asked.
type Calls struct {
	Seen      int `json:"seen"`
	Cancelled int `json:"cancelled"` // whose caller went away before there was an answer
}

// Stub stands for the carrier. Besides what [Client] calls it serves
//
//	PUT /mode/{mode}   sets how it answers
//	GET /calls         tells the number of calls
//	DELETE /calls      sets the number to zero
type Stub struct {
	mux *http.ServeMux

	mu        sync.Mutex // guards what follows
	mode      Mode
	inMode    int // calls since the mode was set
	calls     Calls
	shipments map[string]Shipment // by reference
	charged   int                 // redirections
}

// NewStub returns a stub that answers at once.
func NewStub() *Stub {
	s := &Stub{mux: http.NewServeMux(), mode: ModeOK, shipments: make(map[string]Shipment)}
	s.mux.HandleFunc("GET /quotes", s.serve(s.quotes))
	s.mux.HandleFunc("POST /shipments", s.serve(s.book))
	s.mux.HandleFunc("POST /redirections", s.serve(s.redirect))
	s.mux.HandleFunc("PUT /mode/{mode}", s.putMode)
	s.mux.HandleFunc("GET /calls", s.getCalls)
	s.mux.HandleFunc("DELETE /calls", s.deleteCalls)
	return s
}

// ServeHTTP answers a call.
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// SetMode sets how calls from now on are answered. Those that hang already go on hanging.
func (s *Stub) SetMode(mode Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode, s.inMode = mode, 0
}

// Calls returns the number of calls so far.
func (s *Stub) Calls() Calls {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// ResetCalls sets the number of calls to zero.
func (s *Stub) ResetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = Calls{}
}

// serve answers as the mode says, and with answer where the mode is to answer well.
func (s *Stub) serve(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The server notices that a caller has gone only after the whole body was read.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAnswer))
		if err != nil {
			http.Error(w, "unreadable body", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		mode, number := s.count()
		switch mode {
		case ModeHang:
			<-r.Context().Done()
			s.countCancelled()
		case ModeSlow:
			if pause.For(r.Context(), slowness) != nil {
				s.countCancelled()
				return
			}
			answer(w, r)
		case ModeFlaky:
			if number%2 == 1 {
				http.Error(w, "try again", http.StatusServiceUnavailable)
				return
			}
			answer(w, r)
		case ModeFail:
			http.Error(w, "a wheel came off", http.StatusInternalServerError)
		case ModeBusy:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many calls", http.StatusTooManyRequests)
		case ModeRefuse:
			http.Error(w, "no live cats", http.StatusUnprocessableEntity)
		default:
			answer(w, r)
		}
	}
}

func (s *Stub) count() (Mode, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.Seen++
	s.inMode++
	return s.mode, s.inMode
}

func (s *Stub) countCancelled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.Cancelled++
}

func (s *Stub) quotes(w http.ResponseWriter, r *http.Request) {
	weight, err := strconv.ParseFloat(r.URL.Query().Get("weight"), 64)
	if err != nil {
		http.Error(w, "weight: not a number", http.StatusBadRequest)
		return
	}
	writeJSON(w, http.StatusOK, []Quote{
		{Service: "standard", Price: inCents(3.5 + 0.4*weight), Days: 3},
		{Service: "express", Price: inCents(7.9 + 0.8*weight), Days: 1},
	})
}

func inCents(price float64) float64 { return math.Round(price*100) / 100 }

func (s *Stub) book(w http.ResponseWriter, r *http.Request) {
	var parcel Parcel
	if err := json.NewDecoder(r.Body).Decode(&parcel); err != nil || parcel.Reference == "" {
		http.Error(w, "not a parcel with a reference", http.StatusBadRequest)
		return
	}
	shipment, isNew := s.accept(parcel)
	if !isNew {
		writeJSON(w, http.StatusOK, shipment)
		return
	}
	writeJSON(w, http.StatusCreated, shipment)
}

func (s *Stub) accept(parcel Parcel) (shipment Shipment, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if shipment, booked := s.shipments[parcel.Reference]; booked {
		return shipment, false
	}
	number := len(s.shipments) + 1
	shipment = Shipment{
		ID:           fmt.Sprintf("shipment-%d", number),
		Reference:    parcel.Reference,
		TrackingCode: fmt.Sprintf("PURR%06d", number),
	}
	s.shipments[parcel.Reference] = shipment
	return shipment, true
}

func (s *Stub) redirect(w http.ResponseWriter, r *http.Request) {
	var wanted redirection
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil || wanted.Reference == "" {
		http.Error(w, "not a redirection with a reference", http.StatusBadRequest)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]int{"charged": s.charge()})
}

func (s *Stub) charge() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.charged++
	return s.charged
}

func (s *Stub) putMode(w http.ResponseWriter, r *http.Request) {
	mode := Mode(r.PathValue("mode"))
	if !slices.Contains(modes, mode) {
		http.Error(w, fmt.Sprintf("no mode %q; there are %q", mode, modes), http.StatusNotFound)
		return
	}
	s.SetMode(mode)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Stub) getCalls(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Calls())
}

func (s *Stub) deleteCalls(w http.ResponseWriter, _ *http.Request) {
	s.ResetCalls()
	w.WriteHeader(http.StatusNoContent)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}
