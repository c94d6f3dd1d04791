package extension

import (
	"maps"
	"reflect"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

// models is a search for the Go types of objects: those that resolvers take as their parent, and
// those that lie on the way from the results of resolvers down the fields.
type models struct {
	*generated
	objects []*ast.Definition // sorted by name, so that each search finds the same
	certain map[string]bool   // objects whose type a resolver takes as its parent
	pending []string          // objects whose fields are to be followed yet
	// disputed are the objects to which ways lead that disagree: where one goes wrong, gqlgen's
	// config has bound another member than the one of the field's name.
	disputed map[string]bool
}

// findModels guesses the Go types of objects. It searches anew without what turned out to be
// disputed, for what lies behind that may be wrong too.
func (g *generated) findModels() {
	if g.resolvers == nil {
		return
	}
	s := g.es.Schema()
	m := models{generated: g, certain: map[string]bool{}, disputed: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(s.Types)) {
		if s.Types[name].Kind == ast.Object {
			m.objects = append(m.objects, s.Types[name])
		}
	}
	for m.search() {
		clear(g.models)
	}
}

// search fills in the models, and reports whether it came upon a new dispute.
func (m *models) search() (disputes bool) {
	before := len(m.disputed)
	m.takeParents()
	m.pending = slices.Sorted(maps.Keys(m.models))
	m.takeResults()
	for len(m.pending) > 0 {
		object := m.es.Schema().Types[m.pending[0]]
		m.pending = m.pending[1:]
		for _, f := range fieldsOf(object) {
			if bound := m.binding(f); bound.source != sourceResolver && bound.returns != nil {
				m.take(f, bound.returns)
			}
		}
	}
	return len(m.disputed) > before
}

// takeParents takes the types that resolvers take as their parents.
func (m *models) takeParents() {
	s := m.es.Schema()
	for _, object := range m.objects {
		for _, f := range fieldsOf(object) {
			resolver, ok := m.resolver(f)
			// Interface methods have no receiver: the parent comes after the context.
			if ok && !isRoot(s, object) && !isEntityFinder(s, f) && resolver.Type.NumIn() > 1 {
				parent := resolver.Type.In(1)
				if m.isBatch(f) {
					parent = parent.Elem()
				}
				m.models[object.Name] = pointee(parent)
				m.certain[object.Name] = true
			}
		}
	}
}

// takeResults takes the types that resolvers return.
func (m *models) takeResults() {
	for _, object := range m.objects {
		for _, f := range fieldsOf(object) {
			if resolver, ok := m.resolver(f); ok {
				returns := resolver.Type.Out(0)
				if m.isBatch(f) {
					returns = returns.Elem()
				}
				m.take(f, returns)
			}
		}
	}
}

// take notes what is known of the object that the field leads to by what it returns in Go.
func (m *models) take(f schema.Field, returns reflect.Type) {
	object, model := m.es.Schema().Types[f.Definition.Type.Name()], element(returns, f.Definition.Type)
	if object == nil || object.Kind != ast.Object || m.certain[object.Name] || m.disputed[object.Name] || !isModel(model) {
		return
	}
	switch known := m.models[object.Name]; {
	case known == nil:
		m.models[object.Name] = model
		m.pending = append(m.pending, object.Name)
	case known != model:
		m.disputed[object.Name] = true
	}
}

func fieldsOf(object *ast.Definition) []schema.Field {
	fields := make([]schema.Field, len(object.Fields))
	for i, definition := range object.Fields {
		fields[i] = schema.Field{Object: object.Name, Name: definition.Name, Definition: definition}
	}
	return fields
}

// isModel reports whether gqlgen can bind an object to the type.
func isModel(t reflect.Type) bool {
	switch {
	case t == nil:
		return false
	case t.Kind() == reflect.Interface:
		return t.NumMethod() > 0
	default:
		return t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t.PkgPath() != ""
	}
}

// element is the Go type of the objects in a value of t, of a field that is declared with that
// type. Lists are taken off as often as it has them: a slice may be an object itself. nil: t has
// fewer.
func element(t reflect.Type, declared *ast.Type) reflect.Type {
	if t.Kind() == reflect.Chan {
		t = t.Elem()
	}
	if isEvent(t) {
		value, _ := t.FieldByName("Value")
		t = value.Type
	}
	for t = pointee(t); declared.Elem != nil; declared = declared.Elem {
		if t.Kind() != reflect.Slice {
			return nil
		}
		t = pointee(t.Elem())
	}
	return t
}

// pointee is what pointers of the type point to in the end.
func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
