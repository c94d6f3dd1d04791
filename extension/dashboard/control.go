package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"

	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// action is what may be done to a circuit breaker.
type action struct {
	name string // of the path
	done string // of the log
	do   func(*policy.CircuitBreaker)
}

var (
	trip  = action{"trip", "tripped", (*policy.CircuitBreaker).Trip}
	reset = action{"reset", "reset", (*policy.CircuitBreaker).Reset}
)

// longestOrder is how many bytes the body of an order may have.
const longestOrder = 4096

// refusal is why an order is not carried out.
type refusal struct {
	status int
	error
}

// control carries out an order, or refuses it.
func (d *Dashboard) control(a action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		breaker, refused := d.ordered(w, r)
		who := []slog.Attr{slog.String("operator", label.Printable(d.config.operator(r))), slog.String("remote", r.RemoteAddr)}
		if refused != nil {
			d.config.logger.LogAttrs(r.Context(), slog.LevelWarn, "refused to "+a.name+" a circuit breaker",
				append(who, slog.Int("status", refused.status), slog.Any("error", refused.error))...)
			http.Error(w, refused.Error(), refused.status)
			return
		}
		a.do(breaker)
		d.config.logger.LogAttrs(r.Context(), slog.LevelWarn, "circuit breaker "+a.done+" by an operator",
			append(who, slog.String("breaker", breaker.Name()))...)
		w.WriteHeader(http.StatusNoContent)
	}
}

// ordered returns the breaker that the request is about, if who sends it may have it tripped and reset.
func (d *Dashboard) ordered(w http.ResponseWriter, r *http.Request) (*policy.CircuitBreaker, *refusal) {
	if d.config.authorize == nil {
		return nil, &refusal{http.StatusForbidden, errors.New("this dashboard is read-only")}
	}
	if err := d.crossOrigin.Check(r); err != nil {
		return nil, &refusal{http.StatusForbidden, err}
	}
	if !d.config.authorize(r) {
		return nil, &refusal{http.StatusForbidden, errors.New("you may not do that")}
	}
	// No form can send this, so that browsers ask before they send it from another site.
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		return nil, &refusal{http.StatusUnsupportedMediaType, errors.New("the Content-Type must be application/json")}
	}
	var order struct {
		CircuitBreaker string `json:"circuitBreaker"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestOrder))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&order); err != nil {
		return nil, &refusal{http.StatusBadRequest, fmt.Errorf(`the body must be like {"circuitBreaker": "name"}: %w`, err)}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &refusal{http.StatusBadRequest, errors.New("the body has more than one value")}
	}
	breaker, ok := d.registry.CircuitBreaker(order.CircuitBreaker)
	if !ok {
		return nil, &refusal{http.StatusNotFound, fmt.Errorf("there is no circuit breaker %q", label.Printable(order.CircuitBreaker))}
	}
	return breaker, nil
}
