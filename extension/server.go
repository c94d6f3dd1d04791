package extension

import (
	"errors"
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
	guards     map[string]bool // the coordinates of fields that have guards
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

// String returns the coordinate.
func (k fieldKey) String() string { return k.object + "." + k.name }

// field is a field with a policy.
type field struct {
	fieldKey
	definition *ast.FieldDefinition // the object's own
	policy     *policy.Policy
	enforced   bool // policy's timeout is
	idempotent bool
	nonNull    bool // by the object's own declaration, which an interface's may lack
	// takesNull: the Go type of the field can hold graphql.Null, so that returning it would
	// not tell gqlgen that the field is null.
	takesNull bool
	bare      bool  // there is no policy: only the operation's time ends it
	batch     bool  // one call answers for all items of a list
	finder    bool  // it is an entity finder of federation's
	guarded   bool  // it runs under its policy in its guard, not in the middleware
	kept      *kept // values to answer with; nil: none are kept
	noStream  any   // what to return for a stream that does not start; nil for other fields
}

// Validate reads the schema's annotations and makes the policies of its fields. Its error
// tells all that is wrong with schema, options, resolvers and their fit at once, with file and
// line where there is SDL. What is rarely meant is warned about. It is called by gqlgen's Use,
// which panics on an error.
func (e *Extension) Validate(es graphql.ExecutableSchema) error {
	if es == nil || es.Schema() == nil {
		return errors.New("gqlresilience: the schema is nil")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if first := e.known(es.Schema()); first != nil {
		return e.sharingMistake(es, first)
	}
	made, warnings, err := e.newServer(es)
	if err != nil {
		return err
	}
	made.omitsPanicHandler = omitsPanicHandler(es) // here, for a schema alone can't be executed
	e.warn(warnings)
	e.serve(made.schema, made)
	return nil
}

// newServer finds out what is to be known of the schema, and tells all that is wrong.
func (e *Extension) newServer(es graphql.ExecutableSchema) (made *server, warnings []string, err error) {
	c := e.newCheck(es)
	if errors.Join(c.errs...) == nil {
		if made, err = e.compose(c); err != nil {
			c.errs = append(c.errs, err)
		} else {
			c.warnOfPolicies(made)
		}
	}
	return made, c.texts(), c.err()
}

// compose makes the policies of a schema in which there is no mistake.
func (e *Extension) compose(c *check) (*server, error) {
	policies, err := e.registry.Compose(c.compositions...)
	if err != nil {
		return nil, err
	}
	es := c.generated.es
	made := &server{executable: es, schema: c.schema, guards: c.generated.guarded, fields: map[fieldKey]*field{}}
	for i, f := range c.fields {
		if policies[i] == nil {
			continue
		}
		key := fieldKey{f.Object, f.Name}
		made.fields[key] = &field{
			fieldKey: key, definition: f.Definition, policy: policies[i], enforced: policies[i].Enforced(),
			idempotent: f.Idempotent, nonNull: f.Definition.Type.NonNull, takesNull: c.generated.takesNull(f),
			batch: c.generated.isBatch(f), finder: isEntityFinder(c.schema, f), noStream: c.generated.noStream(f),
			guarded: c.generated.guarded[f.Coordinate()], kept: e.keeps(f.Coordinate()),
		}
	}
	if e.budget != nil {
		if made.unprotected, err = e.unprotected(c, made.fields); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// unprotected returns the fields that have no policy, each with one that has no stage: only
// the operation's time limit ends it.
func (e *Extension) unprotected(c *check, protected map[fieldKey]*field) (map[fieldKey]*field, error) {
	var fields []*field
	var compositions []policy.Composition
	for _, definition := range c.schema.Types {
		if definition.Kind != ast.Object || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		for _, f := range definition.Fields {
			key := fieldKey{definition.Name, f.Name}
			if protected[key] != nil || strings.HasPrefix(f.Name, "__") {
				continue
			}
			found := schema.Field{Object: definition.Name, Name: f.Name, Definition: f}
			fields = append(fields, &field{
				fieldKey: key, bare: true, batch: c.generated.isBatch(found), finder: isEntityFinder(c.schema, found),
			})
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

// Warnings returns what was warned about so far, of all servers that use the extension: what is
// allowed and rarely meant, each with file and line of the annotation, or the option that is
// meant. They are logged too, and with [Strict] they are errors instead.
func (e *Extension) Warnings() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.warnings)
}

func (e *Extension) warn(warnings []string) {
	e.warnings = append(e.warnings, warnings...)
	logger := e.logger
	if logger == nil {
		logger = slog.Default()
	}
	for _, warning := range warnings {
		logger.Warn("gqlresilience: " + warning)
	}
}

// known returns the server of the schema, nil if it is new.
func (e *Extension) known(s *ast.Schema) *server {
	servers := e.servers.Load()
	if servers == nil {
		return nil
	}
	return servers.byRoot[s.Query]
}

// servers are those that the extension serves. It does not change.
type servers struct {
	byRoot map[*ast.Definition]*server // by the root types of their schemas
	only   *server                     // if there is just one

	byDefinition map[*ast.FieldDefinition]*field // with policies, by the objects' own definitions
}

// serve makes operations on the schema find the server.
func (e *Extension) serve(s *ast.Schema, made *server) {
	all := &servers{byRoot: map[*ast.Definition]*server{}, only: made, byDefinition: map[*ast.FieldDefinition]*field{}}
	for _, f := range made.fields {
		all.byDefinition[f.definition] = f
	}
	if old := e.servers.Load(); old != nil {
		maps.Copy(all.byDefinition, old.byDefinition)
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

func rootName(root *ast.Definition) string {
	if root == nil {
		return ""
	}
	return root.Name
}
