package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gqlresilience/gqlresilience/internal/funcname"
)

// Description is what a policy had come to when [Policy.Describe] was called, for tables, checks
// and tools. It tells nothing of what the policy is doing: for that ask its gates.
type Description struct {
	// Settings are all that are in force, defaults included, of the stages that are on,
	// outermost stage first. A timeout stands where its Total does.
	Settings []Setting

	// Attempts is how many a call may make, the first included: 1 without retry, or
	// [Unlimited].
	Attempts int

	// Timeout limits each attempt and Total all of them with their waits. 0: no limit.
	Timeout, Total time.Duration

	// Mode is the timeout mode; 0 if the timeout stage is off.
	Mode TimeoutMode

	// CircuitBreaker, Bulkhead and RateLimit are the names of the gates, for the methods of
	// [Registry] that are called alike. "": the stage is off.
	CircuitBreaker, Bulkhead, RateLimit string

	// Fallback tells whether the fallback stage is on.
	Fallback bool

	plan *plan
}

// Setting is one setting that is in force, and where it came from.
type Setting struct {
	// Path is what messages call it: "retry.backoff.delay". Each stage begins with its
	// "enabled", whose origin is what turned the stage on.
	Path string

	// Value is a bool, an int, a float64, a string, a [time.Duration], a [TimeoutMode], a
	// [Jitter] or a [*Window]; "unlimited" for attempts without end; and of a func, "func" and
	// its name, which is all that can be told of one.
	Value any

	// Origin is the layer's: `preset "carrier"`, "schema.graphqls:12", "Config.Defaults" or
	// "built-in default". Settings of a gate that the policy only names, or shares with its
	// preset, come from where the gate is configured. That of a name is what chose the gate.
	Origin string
}

// String is the setting as messages show it: `retry.attempts: 2 (preset "carrier")`.
func (s Setting) String() string { return fmt.Sprintf("%s: %v (%s)", s.Path, s.Value, s.Origin) }

// MarshalJSON writes path, value and origin, the value as [DecodeConfig] reads it.
func (s Setting) MarshalJSON() ([]byte, error) {
	value := s.Value
	switch v := value.(type) {
	case time.Duration, TimeoutMode, Jitter:
		value = fmt.Sprint(v)
	case *Window:
		value = map[string]any{"count": v.Calls}
		if v.Duration != 0 {
			value = map[string]any{"time": v.Duration.String()}
		}
	}
	return json.Marshal(struct {
		Path   string `json:"path"`
		Value  any    `json:"value"`
		Origin string `json:"origin"`
	}{s.Path, value, s.Origin})
}

// Describe tells what p has come to.
func (p *Policy) Describe() Description {
	plan := p.plan.Load()
	d := Description{
		Settings: plan.made.settings(), Attempts: plan.attempts(), Timeout: plan.timeout, Total: plan.total,
		Fallback: plan.fallback != nil, plan: plan,
	}
	if t := plan.made.spec.Timeout; t != nil {
		d.Mode = *t.Mode
	}
	if plan.breaker != nil {
		d.CircuitBreaker = plan.breaker.Name()
	}
	if plan.bulkhead != nil {
		d.Bulkhead = plan.bulkhead.Name()
	}
	if plan.limiter != nil {
		d.RateLimit = plan.limiter.Name()
	}
	return d
}

// attempts is how many a call may make.
func (p *plan) attempts() int {
	if p.retry == nil {
		return 1
	}
	return p.retry.attempts
}

// withGate is m with a gate's settings taken from what the gate was made from.
func (m merged) withGate(stage, name, origin string, from merged) merged {
	gate := reflect.New(reflect.ValueOf(from.spec).FieldByName(stage).Type().Elem())
	gate.Elem().Set(reflect.ValueOf(from.spec).FieldByName(stage).Elem())
	gate.Elem().FieldByName("Name").Set(reflect.ValueOf(&name))
	reflect.ValueOf(&m.spec).Elem().FieldByName(stage).Set(gate)

	path := settingName(stage)
	m.origins = maps.Clone(m.origins)
	for of, origin := range from.origins {
		if strings.HasPrefix(of, path+".") {
			m.origins[of] = origin
		}
	}
	m.origins[path+".name"] = origin
	return m
}

// pipeline lists the stages, outermost first.
var pipeline = []string{"Fallback", "Timeout", "Retry", "CircuitBreaker", "Bulkhead", "RateLimit"}

func (m merged) settings() []Setting {
	var list []Setting
	for _, stage := range pipeline {
		if value := reflect.ValueOf(m.spec).FieldByName(stage); !value.IsNil() {
			list = m.appendSettings(list, settingName(stage), value.Elem())
		}
	}
	return list
}

func (m merged) appendSettings(list []Setting, within string, structure reflect.Value) []Setting {
	for field, setting := range structure.Fields() {
		path := within + "." + settingName(field.Name)
		switch {
		case field.Name == "Enabled":
			list = append(list, Setting{Path: path, Value: true, Origin: m.origins[within]})
		case setting.IsNil():
		case field.Type == reflect.TypeFor[*BackoffSpec]():
			list = m.appendSettings(list, path, setting.Elem())
		case m.replaced(path):
		default:
			list = append(list, Setting{Path: path, Value: settingValue(path, setting), Origin: m.origins[path]})
		}
	}
	return list
}

// replaced reports whether a backoff's func has taken the place of the setting.
func (m merged) replaced(path string) bool {
	_, byFunc := m.origins["retry.backoff.func"]
	return byFunc && slices.Contains(backoffShape, path)
}

// settingValue is a copy of what setting, a pointer or a func, says.
func settingValue(path string, setting reflect.Value) any {
	switch {
	case setting.Kind() == reflect.Func:
		return "func " + funcname.Of(setting.Interface())
	case setting.Type() == reflect.TypeFor[*Window]():
		return new(setting.Elem().Interface().(Window))
	case path == "retry.attempts" && setting.Elem().Int() == Unlimited:
		return "unlimited"
	default:
		return setting.Elem().Interface()
	}
}
