package dashboard

import (
	"encoding/json"
	"time"
)

// snapshot is how everything is at one time: what GET …/snapshot answers, and what viewers get each second.
// Times are those of the server's clock, and durations are in seconds.
type snapshot struct {
	Time            moment         `json:"time"`
	Server          serverInfo     `json:"server"`
	CircuitBreakers []breakerView  `json:"circuitBreakers"`
	Bulkheads       []bulkheadView `json:"bulkheads"`
	RateLimiters    []limiterView  `json:"rateLimiters"`
	Abandoned       int            `json:"abandoned"` // attempts that still run
	History         historyView    `json:"history"`
	Policies        []policyView   `json:"policies"`
	Fields          []fieldView    `json:"fields"`
	Fallbacks       []fallbackView `json:"fallbacks"` // that are being served
	Events          []eventView    `json:"events"`    // the latest first
}

type serverInfo struct {
	Name    string `json:"name"`
	Started moment `json:"started"` // when the dashboard was made, before which it knows nothing
	Page    string `json:"page"`    // the version of the page that goes with it
}

// historyView says what the columns of policies are.
type historyView struct {
	Step seconds `json:"step"`
	From moment  `json:"from"` // when the first one begins
}

// moment is a time; the zero one is null.
type moment time.Time

func (m moment) MarshalJSON() ([]byte, error) {
	if time.Time(m).IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(time.Time(m).UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

// seconds is a duration.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// snapshotAt looks at everything.
func (d *Dashboard) snapshotAt(now time.Time) snapshot {
	at := periodOf(d.recorder.start, now)
	return snapshot{
		Time: moment(now), Server: serverInfo{d.name, moment(d.recorder.start), pageVersion},
		CircuitBreakers: d.viewBreakers(),
		Bulkheads:       d.viewBulkheads(at),
		RateLimiters:    d.viewLimiters(at),
		Abandoned:       d.registry.Abandoned(),
		History:         historyView{seconds(step), moment(d.recorder.beginning(at-columns+1, now))},
		Policies:        d.viewPolicies(at),
		Fields:          d.recorder.viewFields(at),
		Fallbacks:       d.recorder.viewFallbacks(now),
		Events:          viewEvents(d.recorder.journal.all()),
	}
}
