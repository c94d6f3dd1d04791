package extension

import (
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// PlanSchema returns what the plan is to be of a server with the schema, for checks where there is
// no server. It tells the mistakes that Use would, and the warnings, as far as they can be told
// without generated code, and logs nothing. How the policies are hooked in is not known, and the
// plan lists all fields of an annotated object type, resolver or not.
//
// The registry makes the gates, as it does for a server; the extension does not serve the schema.
func (e *Extension) PlanSchema(s *ast.Schema) (plan Plan, warnings []string, err error) {
	if s == nil {
		return Plan{}, nil, errors.New("gqlresilience: the schema is nil")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	made, warnings, err := e.newServer(schemaAlone{schema: s})
	if err != nil {
		return Plan{}, nil, err
	}
	plan = e.newPlan()
	plan.Fields = e.planServer(made)
	for i := range plan.Fields {
		plan.Fields[i].HookedIn = ""
	}
	plan.sort()
	return plan, warnings, nil
}

// schemaAlone has no resolvers to find out about, and nothing to execute.
type schemaAlone struct {
	graphql.ExecutableSchema
	schema *ast.Schema
}

func (s schemaAlone) Schema() *ast.Schema { return s.schema }

// withoutCode reports that there is a schema alone, so that nothing is known of guards.
func (c *check) withoutCode() bool {
	_, alone := c.generated.es.(schemaAlone)
	return alone
}
