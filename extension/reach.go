package extension

import "github.com/vektah/gqlparser/v2/ast"

// reach tells which object types operations can lead to.
type reach struct {
	queried, mutated map[string]bool // by queries; by mutations and subscriptions
}

func newReach(s *ast.Schema) reach {
	return reach{reachable(s, s.Query), reachable(s, s.Mutation, s.Subscription)}
}

// inQueries reports whether queries run fields of the object. No operation's selections lead to
// Entity, whose fields federation calls in queries.
func (r reach) inQueries(object string) bool { return r.queried[object] || !r.mutated[object] }

// reachable returns the object types that fields of the roots can lead to, the roots included.
func reachable(s *ast.Schema, roots ...*ast.Definition) map[string]bool {
	found := map[string]bool{}
	var visit func(definition *ast.Definition)
	visit = func(definition *ast.Definition) {
		if definition == nil || found[definition.Name] {
			return
		}
		found[definition.Name] = true
		if definition.IsAbstractType() {
			for _, possible := range s.PossibleTypes[definition.Name] {
				visit(possible)
			}
			return
		}
		for _, f := range definition.Fields {
			visit(s.Types[f.Type.Name()])
		}
	}
	for _, root := range roots {
		visit(root)
	}
	return found
}
