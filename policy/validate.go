package policy

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What messages call the layers below the presets.
const (
	defaultsOrigin = "Config.Defaults"
	builtInOrigin  = "built-in default"
)

// maxCountWindow bounds the memory of a count window, a byte for each call.
const maxCountWindow = 1_000_000

// builtIn are the defaults that do not depend on other settings.
func builtIn() Layer {
	return Layer{Origin: builtInOrigin, Spec: Spec{
		Timeout: &TimeoutSpec{MaxAbandoned: new(1000)},
		Retry: &RetrySpec{Attempts: new(3), Backoff: &BackoffSpec{
			Delay: new(200 * time.Millisecond), Factor: new(2.0), MaxDelay: new(30 * time.Second),
		}},
		CircuitBreaker: &CircuitBreakerSpec{
			FailureRate: new(50), MinimumCalls: new(10), Window: CountWindow(20),
			OpenDuration: new(30 * time.Second), HalfOpenMaxCalls: new(1),
		},
		Bulkhead:  &BulkheadSpec{MaxConcurrent: new(10), MaxQueue: new(0), HoldAbandoned: new(false)},
		RateLimit: &RateLimitSpec{MaxWait: new(time.Duration(0))},
	}}
}

// checker collects what is wrong with merged settings.
type checker struct {
	merged
	errs []error
}

// validate reports all that is wrong with the values in m, each by setting, value and origin.
func validate(m merged) error {
	c := &checker{merged: m}
	c.timeout(m.spec.Timeout)
	c.retry(m.spec.Retry)
	c.circuitBreaker(m.spec.CircuitBreaker)
	c.bulkhead(m.spec.Bulkhead)
	c.rateLimit(m.spec.RateLimit)
	return errors.Join(c.errs...)
}

// validateComplete reports what the stages that are on in m lack.
func validateComplete(m merged) error {
	c := &checker{merged: m}
	if t := m.spec.Timeout; t != nil && t.Duration == nil && t.Total == nil {
		c.missing("timeout", "duration", "the stage is on and needs a duration or a total")
	}
	if r := m.spec.RateLimit; r != nil {
		if r.Limit == nil {
			c.missing("rateLimit", "limit", "is required")
		}
		if r.Interval == nil {
			c.missing("rateLimit", "interval", "is required")
		}
	}
	if f := m.spec.Fallback; f != nil && f.Func == nil {
		c.missing("fallback", "func", "is required")
	}
	return errors.Join(c.errs...)
}

// validateDefaults reports what Defaults must not say, and what is wrong with what it says.
func validateDefaults(defaults Spec) error {
	c := &checker{merged: merged{origins: map[string]string{}}}
	for field, stage := range reflect.ValueOf(defaults).Fields() {
		path := settingName(field.Name)
		switch {
		case stage.IsNil():
			continue
		case field.Name == "Fallback":
			c.fail(path, "set", defaultsOrigin, "a fallback belongs to a preset or a field")
			continue
		}
		for _, name := range []string{"Enabled", "Name"} {
			setting := stage.Elem().FieldByName(name)
			if setting.IsValid() && !setting.IsNil() {
				c.fail(path+"."+settingName(name), setting.Elem(), defaultsOrigin, "defaults only fill settings of stages that are on elsewhere")
			}
		}
	}
	c.errs = append(c.errs, validate(merge([]Layer{{Origin: defaultsOrigin, Spec: withoutSwitches(defaults)}})))
	return errors.Join(c.errs...)
}

// withoutSwitches is spec with its stages' Enabled forgotten.
func withoutSwitches(spec Spec) Spec {
	spec = clone(spec)
	for _, stage := range reflect.ValueOf(spec).Fields() {
		if !stage.IsNil() {
			stage.Elem().FieldByName("Enabled").SetZero()
		}
	}
	return spec
}

func (c *checker) timeout(t *TimeoutSpec) {
	if t == nil {
		return
	}
	positive(c, "timeout.duration", t.Duration)
	positive(c, "timeout.total", t.Total)
	atLeast(c, "timeout.maxAbandoned", t.MaxAbandoned, 1)
	if t.Mode != nil && *t.Mode != Cooperative && *t.Mode != Enforced {
		c.wrong("timeout.mode", *t.Mode, "must be Cooperative or Enforced")
	}
}

func (c *checker) retry(r *RetrySpec) {
	if r == nil {
		return
	}
	if r.Attempts != nil && *r.Attempts != Unlimited {
		atLeast(c, "retry.attempts", r.Attempts, 1)
	}
	b := r.Backoff
	if b == nil {
		return
	}
	atLeast(c, "retry.backoff.delay", b.Delay, 0)
	positive(c, "retry.backoff.maxDelay", b.MaxDelay)
	if b.Factor != nil && !(*b.Factor >= 1 && *b.Factor <= math.MaxFloat64) {
		c.wrong("retry.backoff.factor", *b.Factor, "must be at least 1, and finite")
	}
	if b.Jitter != nil && (*b.Jitter < JitterFull || *b.Jitter > JitterNone) {
		c.wrong("retry.backoff.jitter", *b.Jitter, "must be JitterFull, JitterEqual or JitterNone")
	}
	if b.Delay != nil && b.MaxDelay != nil && *b.MaxDelay > 0 && *b.Delay > *b.MaxDelay && b.Func == nil {
		c.wrong("retry.backoff.delay", *b.Delay, "must be at most "+c.naming("retry.backoff.maxDelay", *b.MaxDelay))
	}
	if b.Func != nil {
		for _, path := range backoffShape {
			if c.origins[path] == c.origins["retry.backoff.func"] {
				c.wrong(path, "set", "has no use beside a func")
			}
		}
	}
}

func (c *checker) circuitBreaker(b *CircuitBreakerSpec) {
	if b == nil {
		return
	}
	named(c, "circuitBreaker.name", b.Name)
	if b.FailureRate != nil && (*b.FailureRate < 1 || *b.FailureRate > 100) {
		c.wrong("circuitBreaker.failureRate", *b.FailureRate, "must be a percentage from 1 to 100")
	}
	atLeast(c, "circuitBreaker.minimumCalls", b.MinimumCalls, 1)
	positive(c, "circuitBreaker.openDuration", b.OpenDuration)
	atLeast(c, "circuitBreaker.halfOpenMaxCalls", b.HalfOpenMaxCalls, 1)
	positive(c, "circuitBreaker.halfOpenMaxWait", b.HalfOpenMaxWait)
	w := b.Window
	if w == nil {
		return
	}
	const path = "circuitBreaker.window"
	switch {
	case w.Calls != 0 && w.Duration != 0:
		c.wrong(path, w, "must be a CountWindow or a TimeWindow, not both")
	case w.Duration != 0:
		if w.Duration < timeBuckets {
			c.wrong(path, w, "must be at least 10ns long")
		}
	case w.Calls < 1 || w.Calls > maxCountWindow:
		c.wrong(path, w, fmt.Sprintf("must hold from 1 to %d calls", maxCountWindow))
	case b.MinimumCalls != nil && w.Calls < *b.MinimumCalls:
		c.wrong(path, w, "must hold at least "+c.naming("circuitBreaker.minimumCalls", *b.MinimumCalls))
	}
}

func (c *checker) bulkhead(b *BulkheadSpec) {
	if b == nil {
		return
	}
	named(c, "bulkhead.name", b.Name)
	atLeast(c, "bulkhead.maxConcurrent", b.MaxConcurrent, 1)
	atLeast(c, "bulkhead.maxQueue", b.MaxQueue, 0)
	positive(c, "bulkhead.queueTimeout", b.QueueTimeout)
	if b.QueueTimeout != nil && b.MaxQueue != nil && *b.MaxQueue == 0 && c.origins["bulkhead.queueTimeout"] != defaultsOrigin {
		c.wrong("bulkhead.queueTimeout", *b.QueueTimeout, "has no use while maxQueue is 0")
	}
}

func (c *checker) rateLimit(r *RateLimitSpec) {
	if r == nil {
		return
	}
	named(c, "rateLimit.name", r.Name)
	atLeast(c, "rateLimit.limit", r.Limit, 1)
	positive(c, "rateLimit.interval", r.Interval)
	atLeast(c, "rateLimit.burst", r.Burst, 1)
	atLeast(c, "rateLimit.maxWait", r.MaxWait, 0)
	if r.Limit == nil || r.Interval == nil || *r.Limit < 1 || *r.Interval <= 0 {
		return
	}
	if int64(*r.Limit) > int64(*r.Interval) {
		c.wrong("rateLimit.limit", *r.Limit, "is more than one call per nanosecond of "+c.naming("rateLimit.interval", *r.Interval))
	}
	if *r.Interval > math.MaxInt64/4 {
		c.wrong("rateLimit.interval", *r.Interval, "is more than 70 years")
	}
	if burst := r.Burst; burst != nil && float64(*burst)*float64(*r.Interval)/float64(*r.Limit) > math.MaxInt64/4 {
		c.wrong("rateLimit.burst", *burst, "takes more than 70 years to refill")
	}
}

// wrong records that value, found at path, breaks rule.
func (c *checker) wrong(path string, value any, rule string) {
	c.fail(path, value, c.origins[path], rule)
}

func (c *checker) missing(stage, setting, rule string) {
	c.fail(stage+"."+setting, "missing", c.origins[stage], rule)
}

func (c *checker) fail(path string, value any, origin, rule string) {
	c.errs = append(c.errs, fmt.Errorf("%s: %v (%s): %s", path, value, origin, rule))
}

// naming is how a rule refers to another setting.
func (c *checker) naming(path string, value any) string {
	setting := path[strings.LastIndexByte(path, '.')+1:]
	return fmt.Sprintf("%s, %v (%s)", setting, value, c.origins[path])
}

func atLeast[T int | time.Duration](c *checker, path string, value *T, least T) {
	if value != nil && *value < least {
		c.wrong(path, *value, fmt.Sprintf("must be at least %v", least))
	}
}

func positive(c *checker, path string, value *time.Duration) {
	if value != nil && *value <= 0 {
		c.wrong(path, *value, "must be positive")
	}
}

func named(c *checker, path string, name *string) {
	if name == nil {
		return
	}
	if mistake := nameMistake(*name); mistake != "" {
		c.wrong(path, fmt.Sprintf("%q", *name), mistake)
	}
}

// nameMistake is what is wrong with the name of a preset, a policy or a gate. It stands in lines of
// logs and cells of tables.
func nameMistake(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "must not be blank"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return "must hold nothing that can't be printed, such as line breaks"
	default:
		return ""
	}
}
