package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
)

// Walk returns the fields of s that have a policy, sorted by coordinate: those with a directive,
// those with settings (by coordinate, such as "Query.orders"), and all fields of an annotated
// object type, for the schema does not tell which of them have a resolver. Introspection's and
// federation's fields are never among them.
//
// Preset, timeout and idempotent are each taken from the field's settings, or else its
// directive, or else the directive of its object type. Directives of interfaces' fields are not
// handed down.
//
// The error joins all mistakes in the order of the schema, and after them those of settings
// without a field. Beside an error, the fields that have no mistake are still returned, so
// that their presets can be checked too. The warnings are about what is allowed and rarely
// meant.
func Walk(s *ast.Schema, settings map[string]Settings) (fields []Field, warnings []string, err error) {
	w := walk{schema: s, settings: map[string]Settings{}}
	if declared := s.Directives[directive.Name]; declared != nil {
		for _, difference := range differences(declared) {
			w.report(at(declared.Position, "directive @%s: %s", directive.Name, difference))
		}
	}
	for _, coordinate := range slices.Sorted(maps.Keys(settings)) {
		w.accept(coordinate, settings[coordinate])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Types)) {
		switch definition := s.Types[name]; {
		case isIntrospection(name):
		case definition.Kind == ast.Object:
			w.object(definition)
		case definition.Kind == ast.Interface:
			w.iface(definition)
		}
	}
	slices.SortFunc(w.fields, byCoordinate)
	slices.SortStableFunc(w.warnings, byPosition)
	for _, warning := range w.warnings {
		warnings = append(warnings, warning.err.Error())
	}
	return w.fields, warnings, join(w.mistakes)
}

// walk is the state of one [Walk].
type walk struct {
	schema   *ast.Schema
	settings map[string]Settings // those that belong to a field, with their Origin filled in

	fields   []Field
	warnings []mistake
	mistakes []mistake
}

func (w *walk) report(m mistake) { w.mistakes = append(w.mistakes, m) }

// accept takes over the settings of a coordinate that is a field.
func (w *walk) accept(coordinate string, settings Settings) {
	if settings.Origin == "" {
		settings.Origin = fmt.Sprintf("settings of %q", coordinate)
	}
	if problem := coordinateProblem(w.schema, coordinate); problem != "" {
		w.report(mistake{err: fmt.Errorf("%s: %s", settings.Origin, problem)})
		return
	}
	w.settings[coordinate] = settings
}

func (w *walk) iface(definition *ast.Definition) {
	for _, field := range definition.Fields {
		for _, annotation := range field.Directives.ForNames(directive.Name) {
			w.report(at(annotation.Position, "%s.%s: @%s on a field of an interface: %s",
				definition.Name, field.Name, directive.Name, objectFieldsInstead(w.schema, definition, field.Name)))
		}
	}
}

func (w *walk) object(definition *ast.Definition) {
	before := len(w.mistakes)
	ofType := w.annotation(definition.Directives, "type "+definition.Name)
	faulty := len(w.mistakes) > before
	if ofType != nil {
		ofType.origin += fmt.Sprintf(" (type %s)", definition.Name)
		if definition == w.schema.Mutation && ofType.Idempotent != nil && *ofType.Idempotent {
			w.warnings = append(w.warnings, at(ofType.Position,
				"type %s: @%s(idempotent: true) lets every mutation be retried, those added later too; "+
					"better say it field by field", definition.Name, directive.Name))
		}
	}
	for _, field := range definition.Fields {
		if isIntrospection(field.Name) {
			continue
		}
		before := len(w.mistakes)
		found, ok := w.field(definition, field, ofType)
		if ok && !faulty && len(w.mistakes) == before {
			w.fields = append(w.fields, found)
		}
	}
}

// field puts together what is said about one field. It is not ok if nothing is, or if the field
// never passes a policy.
func (w *walk) field(object *ast.Definition, definition *ast.FieldDefinition, ofType *annotation) (Field, bool) {
	field := Field{Object: object.Name, Name: definition.Name, Definition: definition}
	own := w.annotation(definition.Directives, field.Coordinate())
	settings, configured := w.settings[field.Coordinate()]
	if isFederation(w.schema, object, definition.Name) {
		if own != nil {
			w.report(at(own.Position, "%s: @%s on a field of federation, which never passes a policy",
				field.Coordinate(), directive.Name))
		}
		return Field{}, false
	}
	if own == nil && !configured && ofType == nil {
		return Field{}, false
	}
	if own != nil && configured {
		w.conflicts(field.Coordinate(), own, settings)
	}

	field.Explicit = own != nil || configured
	if ofType != nil {
		field.take(ofType)
	}
	if configured {
		field.Origin = settings.Origin
	}
	if own != nil {
		field.take(own)
	}
	if configured {
		field.configure(settings)
	}
	return field, true
}

// conflicts reports what a field's directive and its settings both say.
func (w *walk) conflicts(coordinate string, own *annotation, settings Settings) {
	twice := func(setting string) {
		w.report(at(own.Position, "%s: %s is given twice, here and by %s", coordinate, setting, settings.Origin))
	}
	if own.Preset != nil && settings.Preset != "" {
		twice("preset")
	}
	if own.Timeout != nil && settings.Spec.Timeout != nil {
		off := own.Timeout.Enabled != nil && !*own.Timeout.Enabled
		switch {
		case settings.Spec.Timeout.Duration != nil || settings.Spec.Timeout.Enabled != nil:
			twice("timeout")
		case off:
			w.report(at(own.Position, "%s: timeout is off here and set by %s", coordinate, settings.Origin))
		}
	}
	if own.Idempotent != nil && settings.Idempotent != nil {
		twice("idempotent")
	}
}
