package extension

import (
	"encoding/json"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

// MarshalJSON writes the plan for tools:
//
//	{
//	  "budget": {"timeout": "3s", "header": "X-Timeout", "retries": 10, "concurrency": 20},
//	  "fields": [{
//	    "field": "Query.shippingQuotes",
//	    "origin": "schema.graphqls:12",
//	    "byType": false,
//	    "policy": "carrier",
//	    "hookedIn": "guard",
//	    "timeout": {"duration": "1.5s", "total": "10s", "mode": "Enforced"},
//	    "attempts": {"query": 2, "mutation": 1},
//	    "idempotent": false,
//	    "circuitBreaker": "carrier",
//	    "bulkhead": "carrier",
//	    "rateLimit": "carrier",
//	    "fallbacks": [{"origin": "preset \"carrier\"", "func": "main.flatRate", "maxAge": "1h0m0s", "answers": ["main.isDown"]}],
//	    "takesAlong": ["the whole response", "Query.order", "an item of Query.orders"],
//	    "worstCase": {"duration": "3.42s", "withoutRetryAfter": "3.22s"},
//	    "settings": [{"path": "timeout.duration", "value": "1.5s", "origin": "schema.graphqls:12"}]
//	  }]
//	}
//
// Durations are Go's. Attempts without end are "unlimited", a worst case that has no bound is
// {"unbounded": "why"}, and what is off, not limited or not known is not there. Keys always come
// in this order.
func (p Plan) MarshalJSON() ([]byte, error) {
	type budget struct {
		Timeout     string `json:"timeout,omitempty"`
		Header      string `json:"header,omitempty"`
		Retries     *int   `json:"retries,omitempty"`
		Concurrency int    `json:"concurrency,omitempty"`
	}
	var told struct {
		Budget *budget     `json:"budget,omitempty"`
		Fields []PlanField `json:"fields"`
	}
	if b := p.Budget; b != nil {
		told.Budget = &budget{durationText(b.Timeout), b.Header, b.Retries, b.Concurrency}
	}
	told.Fields = append([]PlanField{}, p.Fields...)
	return json.Marshal(told)
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
		Origin  string   `json:"origin"`
		Func    string   `json:"func,omitempty"`
		MaxAge  string   `json:"maxAge,omitempty"`
		Answers []string `json:"answers,omitempty"`
	}
	type worstCase struct {
		Duration          string `json:"duration,omitempty"`
		WithoutRetryAfter string `json:"withoutRetryAfter,omitempty"`
		Unbounded         string `json:"unbounded,omitempty"`
	}
	d := f.Description
	told := struct {
		Field          string           `json:"field"`
		Origin         string           `json:"origin"`
		ByType         bool             `json:"byType"`
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
		Field: f.Coordinate, Origin: f.Origin, ByType: f.ByType, Policy: f.Policy, HookedIn: f.HookedIn,
		Attempts:   attempts{attemptsJSON(f.QueryAttempts), attemptsJSON(f.MutationAttempts)},
		Idempotent: f.Idempotent, CircuitBreaker: d.CircuitBreaker, Bulkhead: d.Bulkhead, RateLimit: d.RateLimit,
		WorstCase: worstCase{durationText(f.WorstCase.Duration), durationText(f.WorstCase.WithoutRetryAfter), f.WorstCase.Unbounded},
		Settings:  d.Settings,
	}
	if d.Mode != 0 {
		told.Timeout = &timeout{durationText(d.Timeout), durationText(d.Total), d.Mode.String()}
	}
	for _, by := range f.Fallbacks {
		told.Fallbacks = append(told.Fallbacks, fallback{by.Origin, by.Func, durationText(by.MaxAge), by.Answers})
	}
	for _, ancestor := range f.TakesAlong {
		told.TakesAlong = append(told.TakesAlong, ancestor.String())
	}
	return json.Marshal(told)
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
