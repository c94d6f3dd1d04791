package extension

import (
	"encoding/json"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

// MarshalJSON writes the plan for tools:
//
//	{
//	  "budget": {"timeout": "45s", "header": "X-Time-Left", "retries": 10, "concurrency": 8},
//	  "fields": [{
//	    "field": "Order.invoice",
//	    "origin": "WithField(\"Order.invoice\")",
//	    "byType": false,
//	    "policy": "export",
//	    "hookedIn": "guard",
//	    "timeout": {"duration": "10s", "total": "30s", "mode": "Enforced"},
//	    "attempts": {"query": 1, "mutation": 1},
//	    "idempotent": false,
//	    "bulkhead": "export",
//	    "rateLimit": "export",
//	    "fallbacks": [{"origin": "preset \"export\"", "func": "main.draft", "when": ["main.isDown"]}],
//	    "takesAlong": ["Query.order", "an item of Query.orders"],
//	    "worstCase": {"duration": "30.01s", "withoutRetryAfter": "30.01s"},
//	    "settings": [{"path": "timeout.enabled", "value": true, "origin": "preset \"export\""}, …]
//	  }, {
//	    "field": "Order.quotes",
//	    "origin": "schema.graphqls:17",
//	    "byType": false,
//	    "policy": "carrier",
//	    "hookedIn": "guard",
//	    "timeout": {"duration": "2s", "mode": "Cooperative"},
//	    "attempts": {"query": 2, "mutation": 1},
//	    "idempotent": false,
//	    "circuitBreaker": "carrier",
//	    "fallbacks": [{"origin": "WithStale(\"Order.quotes\")", "maxAge": "1h0m0s", "when": ["the circuit is open"]}],
//	    "worstCase": {"duration": "6s", "withoutRetryAfter": "4.2s"},
//	    "settings": [{"path": "timeout.enabled", "value": true, "origin": "preset \"carrier\""}, …]
//	  }]
//	}
//
// Durations are Go's. Attempts without end are "unlimited", a worst case that has no bound is
// {"unbounded": "why"}, and what is off, not limited or not known is not there. What looks like
// plain data has "looksLikeData": true after byType. Keys always come
// in this order.
func (p Plan) MarshalJSON() ([]byte, error) {
	type budget struct {
		Timeout     string `json:"timeout,omitempty"`
		Header      string `json:"header,omitempty"`
		Retries     *int   `json:"retries,omitempty"`
		Concurrency int    `json:"concurrency,omitempty"`
	}
	var encoded struct {
		Budget *budget     `json:"budget,omitempty"`
		Fields []PlanField `json:"fields"`
	}
	if b := p.Budget; b != nil {
		encoded.Budget = &budget{durationText(b.Timeout), b.Header, b.Retries, b.Concurrency}
	}
	encoded.Fields = append([]PlanField{}, p.Fields...)
	return json.Marshal(encoded)
}

// MarshalJSON writes the field as [Plan.MarshalJSON] says.
func (f PlanField) MarshalJSON() ([]byte, error) {
	type timeout struct {
		Duration string `json:"duration,omitempty"`
		Total    string `json:"total,omitempty"`
		Mode     string `json:"mode"`
	}
	type attempts struct {
		Query    any `json:"query,omitempty"`
		Mutation any `json:"mutation,omitempty"`
	}
	type fallback struct {
		Origin string   `json:"origin"`
		Func   string   `json:"func,omitempty"`
		MaxAge string   `json:"maxAge,omitempty"`
		When   []string `json:"when,omitempty"`
	}
	type worstCase struct {
		Duration          string `json:"duration,omitempty"`
		WithoutRetryAfter string `json:"withoutRetryAfter,omitempty"`
		Unbounded         string `json:"unbounded,omitempty"`
	}
	d := f.Description
	encoded := struct {
		Field          string           `json:"field"`
		Origin         string           `json:"origin"`
		ByType         bool             `json:"byType"`
		LooksLikeData  bool             `json:"looksLikeData,omitempty"`
		Policy         string           `json:"policy"`
		HookedIn       string           `json:"hookedIn,omitempty"`
		Timeout        *timeout         `json:"timeout,omitempty"`
		Attempts       attempts         `json:"attempts"`
		Idempotent     bool             `json:"idempotent"`
		CircuitBreaker string           `json:"circuitBreaker,omitempty"`
		Bulkhead       string           `json:"bulkhead,omitempty"`
		RateLimit      string           `json:"rateLimit,omitempty"`
		Fallbacks      []fallback       `json:"fallbacks,omitempty"`
		TakesAlong     []string         `json:"takesAlong,omitempty"`
		WorstCase      worstCase        `json:"worstCase"`
		Settings       []policy.Setting `json:"settings"`
	}{
		Field: f.Coordinate, Origin: f.Origin, ByType: f.ByType, LooksLikeData: f.LooksLikeData, Policy: f.Policy, HookedIn: f.HookedIn,
		Attempts:   attempts{attemptsJSON(f.QueryAttempts), attemptsJSON(f.MutationAttempts)},
		Idempotent: f.Idempotent, CircuitBreaker: d.CircuitBreaker, Bulkhead: d.Bulkhead, RateLimit: d.RateLimit,
		WorstCase: worstCase{durationText(f.WorstCase.Duration), durationText(f.WorstCase.WithoutRetryAfter), f.WorstCase.Unbounded},
		Settings:  d.Settings,
	}
	if d.Mode != 0 {
		encoded.Timeout = &timeout{durationText(d.Timeout), durationText(d.Total), d.Mode.String()}
	}
	for _, by := range f.Fallbacks {
		encoded.Fallbacks = append(encoded.Fallbacks, fallback{by.Origin, by.Func, durationText(by.MaxAge), by.When})
	}
	for _, ancestor := range f.TakesAlong {
		encoded.TakesAlong = append(encoded.TakesAlong, ancestor.String())
	}
	return json.Marshal(encoded)
}

// text is the field in full, by which two are told apart.
func (f PlanField) text() string {
	encoded, _ := json.Marshal(f) // whose settings policy made of nothing that could not be encoded
	return string(encoded)
}

// durationText is "" for none.
func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// attemptsJSON is nil for none.
func attemptsJSON(attempts int) any {
	switch attempts {
	case 0:
		return nil
	case policy.Unlimited:
		return "unlimited"
	default:
		return attempts
	}
}
