package extension

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// check is one look at a schema, its code and the options, for what is wrong or rarely meant.
type check struct {
	*Extension
	schema       *ast.Schema
	generated    *generated
	fields       []schema.Field
	compositions []policy.Composition          // of fields
	protected    map[string]policy.Description // what passes a policy for all that is known, by coordinate
	reach        reach
	ancestry     *schema.Ancestry
	errs         []error
	warnings     []warning
}

// warning tells of what is rarely meant.
type warning struct {
	text    string
	guessed bool // it may be wrong
}

// look finds out what there is, and passes on what schema.Walk says of it.
func (e *Extension) look(es graphql.ExecutableSchema) (c *check, warnings []string, err error) {
	s := es.Schema()
	fields, warnings, err := schema.Walk(s, e.settings())
	return &check{
		Extension: e, schema: s, generated: newGenerated(es, e.resolvers),
		fields: fields, reach: newReach(s), ancestry: schema.NewAncestry(s),
	}, warnings, err
}

// newCheck finds all mistakes, and what can be warned about before there are policies.
func (e *Extension) newCheck(es graphql.ExecutableSchema) *check {
	c, texts, err := e.look(es)
	c.compositions = compositions(c.schema, c.fields)
	for _, text := range texts {
		c.warnings = append(c.warnings, warning{text: text})
	}
	mistaken := c.mistaken()
	all := slices.Concat(c.fields, mistaken)
	c.errs = append(slices.Clone(e.mistakes), e.fallbackMistakes(c.generated, all), e.staleMistakes(c.generated, all), err)
	if e.registry != nil {
		c.errs = append(c.errs, e.registry.Check(slices.Concat(c.compositions, c.presetsOf(mistaken))...))
	}
	c.errs = append(c.errs, missingDirective(es))
	c.errs = append(c.errs, idleTypes(c.fields)...)
	c.errs = append(c.errs, c.unguardedFinders()...)
	c.warnOfSettings()
	return c
}

// mistaken are the fields with an annotation or option that schema.Walk has left out over a mistake,
// which it reports: they may have others. Nothing is filled in but names and definition.
func (c *check) mistaken() []schema.Field {
	passed := map[string]bool{}
	for _, f := range c.fields {
		passed[f.Coordinate()] = true
	}
	settings := c.settings()
	var fields []schema.Field
	for _, name := range slices.Sorted(maps.Keys(c.schema.Types)) {
		object := c.schema.Types[name]
		if object.Kind != ast.Object || strings.HasPrefix(name, "__") {
			continue
		}
		ofType := object.Directives.ForName(directive.Name) != nil
		for _, definition := range object.Fields {
			f := schema.Field{Object: name, Name: definition.Name, Definition: definition}
			_, configured := settings[f.Coordinate()]
			named := ofType || configured || definition.Directives.ForName(directive.Name) != nil
			if named && !passed[f.Coordinate()] && !strings.HasPrefix(f.Name, "__") {
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// presetsOf are compositions of nothing but the presets that annotations and options name for the
// fields.
func (c *check) presetsOf(fields []schema.Field) (list []policy.Composition) {
	add := func(origin, preset string) {
		list = append(list, policy.Composition{Origin: origin, Preset: preset, Optional: true})
	}
	annotated := func(directives ast.DirectiveList, suffix string) {
		for _, found := range directives.ForNames(directive.Name) {
			if parsed, _ := directive.Parse(found); parsed.Preset != nil { // schema.Walk reports the error
				add(directive.Location(found.Position)+suffix, *parsed.Preset)
			}
		}
	}
	for _, f := range fields {
		annotated(f.Definition.Directives, ": "+f.Coordinate())
		annotated(c.schema.Types[f.Object].Directives, fmt.Sprintf(" (type %s)", f.Object))
		if preset := c.Extension.fields[f.Coordinate()].Preset; preset != "" {
			add(fmt.Sprintf("WithField(%q)", f.Coordinate()), preset)
		}
	}
	return list
}

// err joins the errors and, in strict mode, the warnings: a guess must not keep a server from
// starting.
func (c *check) err() error {
	errs := c.errs
	if c.strict {
		for _, w := range c.warnings {
			if !w.guessed {
				errs = append(errs, errors.New(w.text))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("gqlresilience:\n%w", err)
	}
	return nil
}

// protect notes what the policies have come to, but those of a type's annotation only where its
// field is known to pass it.
func (c *check) protect(made *server) {
	c.protected = map[string]policy.Description{}
	for _, f := range c.fields {
		m, bound := made.fields[fieldKey{f.Object, f.Name}], c.generated.binding(f)
		if m != nil && (bound.callable() || f.Explicit && bound.source == sourceUnknown) {
			c.protected[f.Coordinate()] = m.policy.Describe()
		}
	}
}

// unguardedFinders reports federation's entity finders that have settings and no guard: they pass
// no field middleware.
func (c *check) unguardedFinders() []error {
	var errs []error
	for _, f := range c.fields {
		if c.generated.resolvers != nil && isEntityFinder(c.schema, f) && !c.generated.guarded[f.Coordinate()] {
			errs = append(errs, fmt.Errorf("%s: federation's entity finders pass a policy only in a guard, and this one has none: "+
				"generate guards, and give the server Guard(resolvers)", f.Origin))
		}
	}
	return errs
}

// settings are what the options say of fields, as schema.Walk takes it.
func (e *Extension) settings() map[string]schema.Settings {
	all := map[string]schema.Settings{}
	for coordinate, f := range e.fields {
		all[coordinate] = schema.Settings{
			Preset: f.Preset, Idempotent: f.Idempotent, Spec: f.Spec, Origin: fmt.Sprintf("WithField(%q)", coordinate),
		}
	}
	answer := func(coordinate, option string, fallback *policy.FallbackSpec) {
		settings, ok := all[coordinate]
		if !ok {
			settings.Origin = fmt.Sprintf("%s(%q)", option, coordinate)
		}
		settings.Spec.Fallback = fallback
		all[coordinate] = settings
	}
	for coordinate, fallback := range e.fallbacks {
		answer(coordinate, "WithFallback", fallback.spec)
	}
	for coordinate, stale := range e.stale {
		answer(coordinate, "WithStale", stale.before(e.fallbacks[coordinate].spec, e.registry))
	}
	return all
}

// compositions are what the policies of fields are made of.
func compositions(s *ast.Schema, fields []schema.Field) []policy.Composition {
	list := make([]policy.Composition, len(fields))
	for i, f := range fields {
		origin, presetOrigin := located(f.Origin, f.Coordinate()), f.PresetOrigin
		if f.Explicit && presetOrigin == f.Origin {
			presetOrigin = origin
		}
		mode := policy.Enforced
		if f.Object == rootName(s.Mutation) {
			mode = policy.Cooperative // GraphQL runs them one after the other
		}
		list[i] = policy.Composition{
			Name: f.Coordinate(), Origin: origin, Layers: f.Layers, Preset: f.Preset, PresetOrigin: presetOrigin,
			Mode: mode, Optional: !f.Explicit,
		}
	}
	return list
}

// idleTypes reports annotations of object types that turn nothing on for any field. One that
// merely says what is idempotent serves the fields with an annotation or option of their own.
func idleTypes(fields []schema.Field) []error {
	origins, busy := map[string]string{}, map[string]bool{}
	for _, f := range fields {
		if !f.Explicit {
			origins[f.Object] = f.Origin
		}
		if f.Explicit || f.Preset != "" || slices.ContainsFunc(f.Layers, hasTimeout) {
			busy[f.Object] = true
		}
	}
	var errs []error
	for _, object := range slices.Sorted(maps.Keys(origins)) {
		if !busy[object] {
			errs = append(errs, fmt.Errorf("%s: turns no stage on for any field: name a preset or set a timeout (Config.Defaults turn none on)", origins[object]))
		}
	}
	return errs
}

// hasTimeout reports whether the layer, which a directive made, turns the timeout on.
func hasTimeout(layer policy.Layer) bool {
	timeout := layer.Spec.Timeout
	return timeout != nil && isOn(timeout.Enabled)
}

// isOn reports whether a stage that is mentioned with that Enabled is on.
func isOn(enabled *bool) bool { return enabled == nil || *enabled }
