package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gqlresilience/gqlresilience/internal/nearest"
)

// DecodeConfig reads a Config from one JSON object, for presets that live in a file:
//
//	{
//	  "defaults": {"timeout": {"duration": "5s"}},
//	  "presets": {
//	    "carrier": {
//	      "timeout": {"duration": "1.5s", "total": "10s", "mode": "Enforced"},
//	      "retry": {"attempts": "unlimited", "backoff": {"delay": "200ms", "jitter": "JitterEqual"}},
//	      "circuitBreaker": {"failureRate": 50, "window": {"count": 20}},
//	      "bulkhead": {}
//	    }
//	  }
//	}
//
// Stages and settings go by the names that messages call them. Durations are Go's, in quotes and
// with a unit; a mode or a jitter goes by the name of its constant; a window is {"count": 20} or
// {"time": "10s"}. null inherits, as does what is not there. What only Go can say, such as
// "retryIf" or "isClientError", is an error here: set it in the Config that DecodeConfig
// returns.
//
// The error tells all that is wrong at once, each mistake by path and value; of text that is not
// JSON it tells the first. A name that is unknown or given twice is a mistake. Whether the
// settings make sense is for [NewRegistry] to say.
func DecodeConfig(r io.Reader) (Config, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Config{}, fmt.Errorf("policy.DecodeConfig: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // which some editors put there
	if err := checkSyntax(text); err != nil {
		return Config{}, fmt.Errorf("policy.DecodeConfig: %w", err)
	}
	var config Config
	d := &decoder{}
	d.value("", text, reflect.ValueOf(&config).Elem())
	if err := errors.Join(d.errs...); err != nil {
		return Config{}, fmt.Errorf("policy.DecodeConfig:\n%w", err)
	}
	return config, nil
}

// checkSyntax reports where text stops being one JSON value.
func checkSyntax(text []byte) error {
	err := json.Unmarshal(text, new(json.RawMessage))
	syntax, wrong := errors.AsType[*json.SyntaxError](err)
	if !wrong {
		return nil
	}
	before := text[:max(0, syntax.Offset-1)]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// decoder reads valid JSON into specs and collects what is wrong with it. It goes by
// reflection, so that a new setting cannot be forgotten.
type decoder struct {
	errs []error
}

// constants are the values of the types whose values JSON has names for.
var constants = map[reflect.Type][]fmt.Stringer{
	reflect.TypeFor[TimeoutMode](): {Cooperative, Enforced},
	reflect.TypeFor[Jitter]():      {JitterFull, JitterEqual, JitterNone},
}

// rules say what the values of a kind are.
var rules = map[reflect.Kind]string{
	reflect.Bool:    "must be true or false",
	reflect.Int:     "must be a whole number",
	reflect.Float64: "must be a number",
	reflect.String:  "must be text in quotes",
}

// value reads what to is to be.
func (d *decoder) value(path string, text []byte, to reflect.Value) {
	switch {
	case string(text) == "null" && path != "":
	case to.Kind() == reflect.Func:
		d.fail(path, text, "must be set in Go, for JSON has no funcs")
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.value(path, text, to.Elem())
	case to.Type() == reflect.TypeFor[Window]():
		to.Set(reflect.ValueOf(d.window(path, text)))
	case to.Kind() == reflect.Struct:
		d.structure(path, text, to)
	case to.Kind() == reflect.Map:
		d.named(path, text, to)
	case to.Type() == reflect.TypeFor[time.Duration]():
		to.SetInt(int64(d.duration(path, text)))
	case constants[to.Type()] != nil:
		d.constant(path, text, to)
	case json.Unmarshal(text, to.Addr().Interface()) != nil:
		rule := rules[to.Kind()]
		if isOutOfRange(text, to.Kind()) {
			rule = "must fit 64 bits"
		}
		d.fail(path, text, rule)
	}
}

// isOutOfRange reports whether text is a number, but none that the kind can hold.
func isOutOfRange(text []byte, kind reflect.Kind) bool {
	var err error
	switch kind {
	case reflect.Int:
		_, err = strconv.Atoi(string(text))
	case reflect.Float64:
		_, err = strconv.ParseFloat(string(text), 64)
	}
	return errors.Is(err, strconv.ErrRange)
}

// structure reads an object whose members are the fields of to.
func (d *decoder) structure(path string, text []byte, to reflect.Value) {
	var names []string // that JSON can give
	fields := map[string]reflect.Value{}
	for field, value := range to.Fields() {
		name := settingName(field.Name)
		fields[name] = value
		if field.Type.Kind() != reflect.Func {
			names = append(names, name)
		}
	}
	d.members(path, text, func(name string, text []byte) {
		at := join(path, name)
		field, known := fields[name]
		switch near := nearest.Name(name, names); {
		case known && name == "attempts":
			d.attempts(at, text, field)
		case known:
			d.value(at, text, field)
		case near != "":
			d.errs = append(d.errs, fmt.Errorf("%s: unknown: did you mean %q?", at, near))
		default:
			d.errs = append(d.errs, fmt.Errorf("%s: unknown: known are %s", at, strings.Join(names, ", ")))
		}
	})
}

// named reads an object whose members are the elements of to.
func (d *decoder) named(path string, text []byte, to reflect.Value) {
	to.Set(reflect.MakeMap(to.Type()))
	d.members(path, text, func(name string, text []byte) {
		element := reflect.New(to.Type().Elem()).Elem()
		d.value(join(path, name), text, element)
		to.SetMapIndex(reflect.ValueOf(name), element)
	})
}

func (d *decoder) attempts(path string, text []byte, to reflect.Value) {
	const rule = `must be a whole number from 1, or "unlimited"`
	switch word, _ := unquote(text); {
	case word == "unlimited":
		to.Set(reflect.ValueOf(new(Unlimited)))
	case word != "", string(text) == strconv.Itoa(Unlimited):
		d.fail(path, text, rule)
	default:
		d.value(path, text, to)
	}
}

func (d *decoder) window(path string, text []byte) Window {
	var either struct {
		Count *int
		Time  *time.Duration
	}
	mistakes := len(d.errs)
	d.structure(path, text, reflect.ValueOf(&either).Elem())
	switch {
	case len(d.errs) > mistakes:
	case either.Count != nil && either.Time == nil:
		return *CountWindow(*either.Count)
	case either.Time != nil && either.Count == nil && *either.Time != 0:
		return *TimeWindow(*either.Time)
	default:
		d.fail(path, text, `must be like {"count": 20} or {"time": "10s"}`)
	}
	return Window{}
}

func (d *decoder) duration(path string, text []byte) time.Duration {
	word, quoted := unquote(text)
	duration, err := time.ParseDuration(word)
	_, syntax := time.ParseDuration(strings.Map(toZero, word))
	switch {
	case !quoted, syntax != nil, strings.TrimRight(word, "0123456789") != word: // such as "0", the one that needs no unit
		d.fail(path, text, `must be a duration in quotes and with a unit, such as "1.5s" or "200ms"`)
	case err != nil:
		d.fail(path, text, "must be within 292 years")
	}
	return duration
}

// toZero makes a duration's numbers fit, and leaves its syntax as it is.
func toZero(r rune) rune {
	if '0' <= r && r <= '9' {
		return '0'
	}
	return r
}

func (d *decoder) constant(path string, text []byte, to reflect.Value) {
	word, _ := unquote(text)
	var names []string
	for _, constant := range constants[to.Type()] {
		if constant.String() == word {
			to.Set(reflect.ValueOf(constant))
			return
		}
		names = append(names, strconv.Quote(constant.String()))
	}
	d.fail(path, text, "must be "+strings.Join(names, " or "))
}

// members reads the members of the object in text, the first of those with the same name.
func (d *decoder) members(path string, text []byte, read func(name string, text []byte)) {
	tokens := json.NewDecoder(bytes.NewReader(text)) // whose errors checkSyntax has ruled out
	if first, _ := tokens.Token(); first != json.Delim('{') {
		d.fail(path, text, "must be an object in braces")
		return
	}
	seen := map[string]bool{}
	for tokens.More() {
		token, _ := tokens.Token()
		name := token.(string)
		var value json.RawMessage
		_ = tokens.Decode(&value)
		if seen[name] {
			d.fail(join(path, name), value, "is given a second time")
			continue
		}
		seen[name] = true
		read(name, value)
	}
}

func (d *decoder) fail(path string, text []byte, rule string) {
	var value bytes.Buffer
	_ = json.Compact(&value, text)
	shown := []rune(value.String())
	if len(shown) > longestShown {
		shown = append(shown[:longestShown], '…')
	}
	d.errs = append(d.errs, fmt.Errorf("%s: %s: %s", cmp.Or(path, "config"), string(shown), rule))
}

// longestShown is how many letters of a wrong value a message shows.
const longestShown = 60

// join is the path of name within path. A name that could be taken for a path is quoted.
func join(path, name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '.' || !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' }) {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// unquote returns the text of a JSON string, and false for any other value.
func unquote(text []byte) (word string, quoted bool) {
	_ = json.Unmarshal(text, &word) // fails on no string, and leaves null be
	return word, text[0] == '"'
}
