package schema

import (
	"cmp"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Field is a field with a policy, before the settings of its preset and the defaults are merged
// in.
type Field struct {
	Object, Name string // such as "Query" and "shippingQuotes"

	// Preset is the name of the field's preset, empty for none. PresetOrigin is where it was
	// named: "schema.graphqls:12", with " (type Order)" behind it if by the object type's
	// directive, or the Origin of the field's Settings.
	Preset, PresetOrigin string

	// Idempotent says whether the field may be called again in a mutation or subscription.
	Idempotent bool

	// Layers are what stands above the preset, highest precedence first: the Spec of the
	// field's Settings if it has any stage, the timeout of the field's directive, and that of
	// its object type's. Their origins are written like PresetOrigin.
	Layers []policy.Layer

	// Origin is where a mistake in this field's policy should point: the field's directive,
	// or else its Settings, or else the directive of its object type.
	Origin string

	// Definition is the field in the schema.
	Definition *ast.FieldDefinition

	// Explicit is true if the field has a directive or Settings of its own. If false, only its
	// object type is annotated, and the field may have no resolver or turn no stage on.
	Explicit bool
}

// Coordinate is the field's schema coordinate, such as "Query.shippingQuotes".
func (f Field) Coordinate() string { return f.Object + "." + f.Name }

func byCoordinate(a, b Field) int {
	return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Name, b.Name))
}

// take puts what a directive says over what the field has so far.
func (f *Field) take(from *annotation) {
	f.Origin = from.origin
	if from.Preset != nil {
		f.Preset, f.PresetOrigin = *from.Preset, from.origin
	}
	if from.Idempotent != nil {
		f.Idempotent = *from.Idempotent
	}
	if from.Timeout != nil {
		f.layer(from.origin, policy.Spec{Timeout: from.Timeout})
	}
}

// configure puts the settings over what the field has from directives.
func (f *Field) configure(settings Settings) {
	if settings.Preset != "" {
		f.Preset, f.PresetOrigin = settings.Preset, settings.Origin
	}
	if settings.Idempotent != nil {
		f.Idempotent = *settings.Idempotent
	}
	if settings.setsStage() {
		f.layer(settings.Origin, settings.Spec)
	}
}

func (f *Field) layer(origin string, spec policy.Spec) {
	f.Layers = slices.Insert(f.Layers, 0, policy.Layer{Origin: origin, Spec: spec})
}
