package policy

import (
	"reflect"
	"unicode"
	"unicode/utf8"
)

// Layer is one place that settings come from, and what messages about them call it.
type Layer struct {
	Origin string // such as "schema.graphqls:12" or `preset "carrier"`
	Spec   Spec
}

// backoffShape are the settings that a backoff's Func takes the place of.
var backoffShape = []string{"retry.backoff.delay", "retry.backoff.factor", "retry.backoff.jitter"}

// merged is what a stack of layers comes to: the stages that are on, with their settings, and
// where each setting came from.
type merged struct {
	spec    Spec
	origins map[string]string // by path, such as "retry.backoff.delay", and by stage: "retry"

	// exempt: a layer turned a stage off that a layer below it has on.
	exempt bool
}

// merge takes each stage and setting from the first layer that has it. Only layers decide
// what is on; fill lends settings to the stages that are. It goes by reflection, so that a new
// setting cannot be forgotten.
func merge(layers []Layer, fill ...Layer) merged {
	m := merged{origins: map[string]string{}}
	spec := reflect.ValueOf(&m.spec).Elem()
	for i := range spec.NumField() {
		path := settingName(spec.Type().Field(i).Name)
		on, mentioned := false, false
		for _, layer := range layers {
			stage := reflect.ValueOf(layer.Spec).Field(i)
			if stage.IsNil() {
				continue
			}
			off := isOff(stage)
			if !mentioned {
				mentioned, on = true, !off
				m.origins[path] = layer.Origin
			}
			switch {
			case off:
			case on:
				m.lend(spec.Field(i), stage, path, layer.Origin)
			default:
				m.exempt = true
			}
		}
		if !on {
			continue
		}
		for _, layer := range fill {
			if stage := reflect.ValueOf(layer.Spec).Field(i); !stage.IsNil() {
				m.lend(spec.Field(i), stage, path, layer.Origin)
			}
		}
	}
	return m
}

// lend sets what to, a pointer to a spec, lacks to what from has.
func (m *merged) lend(to, from reflect.Value, path, origin string) {
	if to.IsNil() {
		to.Set(reflect.New(to.Type().Elem()))
	}
	to, from = to.Elem(), from.Elem()
	for i := range to.NumField() {
		setting, field := from.Field(i), to.Type().Field(i)
		path := path + "." + settingName(field.Name)
		switch {
		case setting.IsNil():
		case field.Name == "Func" && m.shaped(to, origin):
		case field.Type == reflect.TypeFor[*BackoffSpec]():
			m.lend(to.Field(i), setting, path, origin)
		case to.Field(i).IsNil():
			to.Field(i).Set(setting)
			m.origins[path] = origin
		}
	}
}

// shaped reports whether an earlier layer than origin's has said how a backoff's waits grow,
// so that origin's func does not count.
func (m *merged) shaped(to reflect.Value, origin string) bool {
	if to.Type() != reflect.TypeFor[BackoffSpec]() {
		return false
	}
	for _, path := range backoffShape {
		if by, ok := m.origins[path]; ok && by != origin {
			return true
		}
	}
	return false
}

// clone copies spec, so that its owner may change it afterwards.
func clone(spec Spec) Spec {
	clonePointers(reflect.ValueOf(&spec).Elem())
	return spec
}

func clonePointers(structure reflect.Value) {
	for _, field := range structure.Fields() {
		if field.Kind() != reflect.Pointer || field.IsNil() {
			continue
		}
		copied := reflect.New(field.Type().Elem())
		copied.Elem().Set(field.Elem())
		if copied.Elem().Kind() == reflect.Struct {
			clonePointers(copied.Elem())
		}
		field.Set(copied)
	}
}

// isOff reports whether a stage says Enabled: new(false).
func isOff(stage reflect.Value) bool {
	enabled := stage.Elem().FieldByName("Enabled").Interface().(*bool)
	return enabled != nil && !*enabled
}

// settingName is how messages name a Go field: "MaxDelay" is "maxDelay".
func settingName(field string) string {
	first, size := utf8.DecodeRuneInString(field)
	return string(unicode.ToLower(first)) + field[size:]
}

// mentions reports whether the layer has the stage on.
func mentions(layer Layer, stage string) bool {
	value := reflect.ValueOf(layer.Spec).FieldByName(stage)
	return !value.IsNil() && !isOff(value)
}

// changes reports whether the layers set anything of the stage besides its name.
func changes(layers []Layer, stage string) bool {
	for _, layer := range layers {
		if !mentions(layer, stage) {
			continue
		}
		for field, setting := range reflect.ValueOf(layer.Spec).FieldByName(stage).Elem().Fields() {
			if field.Name != "Enabled" && field.Name != "Name" && !setting.IsNil() {
				return true
			}
		}
	}
	return false
}

// gateName returns the name that the layers give the gate of a stage, and who does, or "".
func gateName(layers []Layer, stage string) (name, origin string) {
	for _, layer := range layers {
		if !mentions(layer, stage) {
			continue
		}
		given := reflect.ValueOf(layer.Spec).FieldByName(stage).Elem().FieldByName("Name")
		if !given.IsNil() {
			return given.Elem().String(), layer.Origin
		}
	}
	return "", ""
}
