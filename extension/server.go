package extension

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// server is what the extension knows of one schema that it serves. It does not change.
type server struct {
	executable graphql.ExecutableSchema
	schema     *ast.Schema
	fields     map[fieldKey]*field
	// unprotected are the fields without a policy, which an operation's time limit ends all the
	// same. nil: there are no time limits.
	unprotected map[fieldKey]*field
	// omitsPanicHandler: the code was generated with omit_panic_handler.
	omitsPanicHandler bool
}

// fieldKey is how gqlgen names a field at run time, with its object even where the selection
// went through an interface.
type fieldKey struct{ object, name string }

// field is a field with a policy.
type field struct {
	fieldKey
	policy     *policy.Policy
	idempotent bool
	nonNull    bool // by the object's own declaration, which an interface's may lack
	// takesNull: the Go type of the field can hold graphql.Null, so that returning it would
	// not tell gqlgen that the field is null.
	takesNull bool
	batch     bool  // one call answers for all items of a list
	guarded   bool  // it runs under its policy in its guard, not in the middleware
	kept      *kept // values to answer with; nil: none are kept
	noStream  any   // what to return for a stream that does not start; nil for other fields
}

// Validate reads the schema's annotations and makes the policies of its fields. Its error
// tells all that is wrong with schema, options and their fit at once, with file and line
// where there is SDL. It is called by gqlgen's Use, which panics on an error.
func (e *Extension) Validate(es graphql.ExecutableSchema) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known(es.Schema()) {
		return e.sharingMistake(es)
	}
	made, warnings, err := e.newServer(es)
	if err != nil {
		return err
	}
	e.warn(warnings)
	e.serve(made.schema, made)
	return nil
}

// newServer finds out what is to be known of the schema, and tells all that is wrong.
func (e *Extension) newServer(es graphql.ExecutableSchema) (made *server, warnings []string, err error) {
	s := es.Schema()
	fields, warnings, err := schema.Walk(s, e.settings())
	compositions := compositions(s, fields)
	errs := append(slices.Clone(e.mistakes), e.fallbackMistakes(es, fields), e.staleMistakes(es, fields), err)
	if e.registry != nil {
		errs = append(errs, e.registry.Check(compositions...))
	}
	errs = append(append(errs, missingDirective(es)), idleTypes(fields)...)
	if err := errors.Join(errs...); err != nil {
		return nil, nil, fmt.Errorf("gqlresilience:\n%w", err)
	}
	policies, err := e.registry.Compose(compositions...)
	if err != nil {
		return nil, nil, fmt.Errorf("gqlresilience:\n%w", err)
	}

	made = &server{executable: es, schema: s, fields: map[fieldKey]*field{}, omitsPanicHandler: omitsPanicHandler(es)}
	guarded := guardedFields(es)
	for i, f := range fields {
		if policies[i] == nil {
			continue
		}
		key := fieldKey{f.Object, f.Name}
		made.fields[key] = &field{
			fieldKey: key, policy: policies[i], idempotent: f.Idempotent, nonNull: f.Definition.Type.NonNull,
			takesNull: takesNull(es, f), batch: isBatch(f), noStream: noStream(es, f), guarded: guarded[f.Coordinate()],
			kept: e.keeps(f.Coordinate()),
		}
		if retry := e.fields[f.Coordinate()].Spec.Retry; retry != nil && isOn(retry.Enabled) && isMutating(s, f) && !f.Idempotent {
			warnings = append(warnings, fmt.Sprintf("WithField(%q): retry has no effect: the field is not idempotent", f.Coordinate()))
		}
	}
	if e.budget != nil {
		if made.unprotected, err = e.unprotected(s, made.fields); err != nil {
			return nil, nil, fmt.Errorf("gqlresilience:\n%w", err)
		}
	}
	warnings = append(warnings, e.planWarnings(made)...)
	return made, warnings, nil
}

// unprotected returns the fields that have no policy, each with one that has no stage: only
// the operation's time limit ends it.
func (e *Extension) unprotected(s *ast.Schema, protected map[fieldKey]*field) (map[fieldKey]*field, error) {
	var fields []*field
	var compositions []policy.Composition
	for _, definition := range s.Types {
		if definition.Kind != ast.Object || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		for _, f := range definition.Fields {
			key := fieldKey{definition.Name, f.Name}
			if protected[key] != nil || strings.HasPrefix(f.Name, "__") {
				continue
			}
			found := schema.Field{Object: definition.Name, Name: f.Name, Definition: f}
			fields = append(fields, &field{fieldKey: key, batch: isBatch(found)})
			compositions = append(compositions, policy.Composition{Name: found.Coordinate(), Bare: true})
		}
	}
	policies, err := e.registry.Compose(compositions...)
	if err != nil {
		return nil, err
	}
	all := map[fieldKey]*field{}
	for i, f := range fields {
		f.policy = policies[i]
		all[f.fieldKey] = f
	}
	return all, nil
}

// settings are what the options say of fields, as schema.Walk takes it.
func (e *Extension) settings() map[string]schema.Settings {
	all := map[string]schema.Settings{}
	for coordinate, f := range e.fields {
		all[coordinate] = schema.Settings{
			Preset: f.Preset, Idempotent: f.Idempotent, Spec: f.Spec, Origin: fmt.Sprintf("WithField(%q)", coordinate),
		}
	}
	for coordinate, fallback := range e.fallbacks {
		settings, ok := all[coordinate]
		if !ok {
			settings.Origin = fmt.Sprintf("WithFallback(%q)", coordinate)
		}
		settings.Spec.Fallback = fallback.spec
		all[coordinate] = settings
	}
	for coordinate, stale := range e.stale {
		settings, ok := all[coordinate]
		if !ok {
			settings.Origin = fmt.Sprintf("WithStale(%q)", coordinate)
		}
		settings.Spec.Fallback = stale.before(e.fallbacks[coordinate].spec, e.registry)
		all[coordinate] = settings
	}
	return all
}

// compositions are what the policies of fields are made of.
func compositions(s *ast.Schema, fields []schema.Field) []policy.Composition {
	list := make([]policy.Composition, len(fields))
	for i, f := range fields {
		origin, presetOrigin := f.Origin, f.PresetOrigin
		if !strings.Contains(origin, f.Coordinate()) {
			origin += ": " + f.Coordinate()
		}
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
			errs = append(errs, fmt.Errorf("%s: turns no stage on for any field", origins[object]))
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

func (e *Extension) warn(warnings []string) {
	logger := e.logger
	if logger == nil {
		logger = slog.Default()
	}
	for _, warning := range warnings {
		logger.Warn("gqlresilience: " + warning)
	}
}

func (e *Extension) known(s *ast.Schema) bool {
	servers := e.servers.Load()
	return servers != nil && servers.byRoot[s.Query] != nil
}

// servers are those that the extension serves. It does not change.
type servers struct {
	byRoot map[*ast.Definition]*server // by the root types of their schemas
	only   *server                     // if there is just one
}

// serve makes operations on the schema find the server.
func (e *Extension) serve(s *ast.Schema, made *server) {
	all := &servers{byRoot: map[*ast.Definition]*server{}, only: made}
	if old := e.servers.Load(); old != nil {
		maps.Copy(all.byRoot, old.byRoot)
		all.only = nil
	}
	for _, root := range []*ast.Definition{s.Query, s.Mutation, s.Subscription} {
		if root != nil {
			all.byRoot[root] = made
		}
	}
	e.servers.Store(all)
}

// isMutating reports whether the field is one of a root type whose operations are not retried.
func isMutating(s *ast.Schema, f schema.Field) bool {
	return f.Object == rootName(s.Mutation) || f.Object == rootName(s.Subscription)
}

func rootName(root *ast.Definition) string {
	if root == nil {
		return ""
	}
	return root.Name
}
