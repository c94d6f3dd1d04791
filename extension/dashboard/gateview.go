package dashboard

// windowParts is how many parts a window is shown in at most.
const windowParts = 60

type breakerView struct {
	Name           string       `json:"name"` // in full, for orders go by it
	State          string       `json:"state"`
	Since          moment       `json:"since"`
	Reason         string       `json:"reason"`
	RetryAfter     seconds      `json:"retryAfter"` // until a probe may pass
	Probes         int          `json:"probes"`     // running
	Calls          int          `json:"calls"`      // in the window
	Failures       int          `json:"failures"`
	FailureRate    int          `json:"failureRate"` // in percent, at which it opens
	MinimumCalls   int          `json:"minimumCalls"`
	OpenDuration   seconds      `json:"openDuration"`
	WindowCalls    int          `json:"windowCalls,omitempty"`
	WindowDuration seconds      `json:"windowDuration,omitempty"`
	Window         []partView   `json:"window"`  // oldest first
	Outage         *outageView  `json:"outage"`  // the last one; null: none has begun
	Changes        []changeView `json:"changes"` // the latest first
}

type partView struct {
	Calls    int `json:"calls"`
	Failures int `json:"failures"`
}

// outageView is from when a closed breaker opened until it was closed again.
type outageView struct {
	Began  moment `json:"began"`
	Reason string `json:"reason"`
	Ended  moment `json:"ended"` // null: not yet
}

type changeView struct {
	Time   moment `json:"time"`
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
}

func (d *Dashboard) viewBreakers() []breakerView {
	all := []breakerView{}
	for name, b := range d.registry.CircuitBreakers() {
		last, outage := d.recorder.breakers.look(name).all()
		stats, settings := b.Stats(), b.Settings()
		view := breakerView{
			Name: name, State: stats.State.String(), Since: moment(stats.Since), Reason: why(last, stats),
			RetryAfter: seconds(stats.RetryAfter), Probes: stats.Probes, Calls: stats.Calls, Failures: stats.Failures,
			FailureRate: settings.FailureRate, MinimumCalls: settings.MinimumCalls, OpenDuration: seconds(settings.OpenDuration),
			WindowCalls: settings.Window.Calls, WindowDuration: seconds(settings.Window.Duration),
			Window: []partView{}, Changes: []changeView{},
		}
		if !outage.began.IsZero() {
			view.Outage = &outageView{moment(outage.began), outage.reason, moment(outage.ended)}
		}
		for _, part := range b.Window(windowParts) {
			view.Window = append(view.Window, partView(part))
		}
		for _, e := range last {
			view.Changes = append(view.Changes, changeView{moment(e.Time), e.From.String(), e.To.String(), e.Reason})
		}
		all = append(all, view)
	}
	return all
}

type bulkheadView struct {
	Name          string `json:"name"`
	Running       int    `json:"running"`
	MaxConcurrent int    `json:"maxConcurrent"`
	Queued        int    `json:"queued"`
	MaxQueue      int    `json:"maxQueue"`
	Rejected      int    `json:"rejected"` // in the last five minutes
}

func (d *Dashboard) viewBulkheads(now period) []bulkheadView {
	all := []bulkheadView{}
	for name, b := range d.registry.Bulkheads() {
		all = append(all, bulkheadView{
			name, b.Running(), b.MaxConcurrent(), b.Queued(), b.MaxQueue(), d.recorder.bulkheads.look(name).count(now),
		})
	}
	return all
}

type limiterView struct {
	Name      string  `json:"name"`
	Available int     `json:"available"`
	Burst     int     `json:"burst"`
	Limit     int     `json:"limit"`
	Interval  seconds `json:"interval"`
	Rejected  int     `json:"rejected"` // in the last five minutes
}

func (d *Dashboard) viewLimiters(now period) []limiterView {
	all := []limiterView{}
	for name, l := range d.registry.RateLimiters() {
		limit, interval := l.Limit()
		all = append(all, limiterView{
			name, l.Available(), l.Burst(), limit, seconds(interval), d.recorder.limiters.look(name).count(now),
		})
	}
	return all
}
