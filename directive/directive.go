package directive

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Name is the directive's name in a schema, without the @.
const Name = "resilience"

// The directive's arguments. All may be left out; null is the same as leaving out.
const (
	preset     = "preset"
	timeout    = "timeout"
	idempotent = "idempotent"
)

// Directive is what one @resilience says. nil means that it does not say, so the setting is
// inherited.
type Directive struct {
	// Preset names the preset. Never empty; whether there is such a preset is not checked.
	Preset *string

	// Timeout is the time limit of each attempt. `timeout: "off"` sets Enabled to false and
	// nothing else. `timeout: "default"` sets nothing: the timeout is on, and its duration is
	// inherited. Any other text sets the Duration alone, to more than zero.
	Timeout *policy.TimeoutSpec

	// Idempotent says whether the field may be called again in a mutation or subscription.
	Idempotent *bool

	// Position is where the directive stands; nil if the parser gave none. See [Location].
	Position *ast.Position
}

// Parse reads d, whose name it takes for granted. The error joins all mistakes of its
// arguments, one error each, that name the argument, its value and what is expected, but not
// the position. Beside an error, the Directive holds the arguments that are well formed.
func Parse(d *ast.Directive) (Directive, error) {
	if d == nil {
		return Directive{}, errors.New("no directive to parse")
	}
	parsed := Directive{Position: d.Position}
	var mistakes []error
	seen := map[string]bool{}
	for _, argument := range d.Arguments {
		if argument == nil {
			continue
		}
		if seen[argument.Name] {
			mistakes = append(mistakes, mistake(argument, "the argument is given twice"))
			continue
		}
		seen[argument.Name] = true
		if problem := parsed.read(argument); problem != "" {
			mistakes = append(mistakes, mistake(argument, problem))
		}
	}
	return parsed, errors.Join(mistakes...)
}

// read takes over what argument says, or tells what is wrong with it.
func (d *Directive) read(argument *ast.Argument) (problem string) {
	switch argument.Name {
	case preset, timeout, idempotent:
	default:
		return "no such argument: must be preset, timeout or idempotent"
	}
	value := argument.Value
	if value == nil {
		return "the argument has no value"
	}
	if value.Kind == ast.NullValue {
		return ""
	}
	switch argument.Name {
	case preset:
		d.Preset, problem = readPreset(value)
	case timeout:
		d.Timeout, problem = readTimeout(value)
	case idempotent:
		d.Idempotent, problem = readIdempotent(value)
	}
	return problem
}

func readPreset(value *ast.Value) (name *string, problem string) {
	switch {
	case !isText(value):
		return nil, kindOf(value) + `: must be a preset's name, a string such as "carrier"`
	case strings.TrimSpace(value.Raw) == "":
		return nil, `empty: must be a preset's name, such as "carrier"`
	}
	return new(value.Raw), ""
}

const expectedTimeout = `must be a positive duration such as "1.5s" or "200ms", or "off", or "default"`

func readTimeout(value *ast.Value) (spec *policy.TimeoutSpec, problem string) {
	if !isText(value) {
		return nil, kindOf(value) + ": " + expectedTimeout + ", a string"
	}
	switch value.Raw {
	case "off":
		return &policy.TimeoutSpec{Enabled: new(false)}, ""
	case "default":
		return &policy.TimeoutSpec{}, ""
	}
	duration, problem := parseDuration(value.Raw)
	if problem != "" {
		return nil, problem + ": " + expectedTimeout
	}
	return &policy.TimeoutSpec{Duration: new(duration)}, ""
}

func readIdempotent(value *ast.Value) (idempotent *bool, problem string) {
	if value.Kind != ast.BooleanValue {
		return nil, kindOf(value) + ": must be true or false"
	}
	return new(value.Raw == "true"), ""
}

func mistake(argument *ast.Argument, problem string) error {
	return fmt.Errorf("@%s(%s: %s): %s", Name, argument.Name, source(argument.Value), problem)
}
