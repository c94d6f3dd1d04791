package extension

import (
	"reflect"
	"sync"
)

// GeneratedCode is what generated guards tell of the code around them, beside what their resolvers
// show.
type GeneratedCode struct {
	// HasGuards says that there are fields with guards, once the server is given what the Guard
	// function returns.
	HasGuards bool

	// BoundMethods has for each field that is bound to a Go method, by its coordinate, a nil
	// pointer to what the method returns. What has neither a resolver nor a place here is plain
	// data.
	BoundMethods map[string]any

	// BatchResolvers are the coordinates of the fields whose resolvers answer for many parents.
	BatchResolvers []string
}

// registered is the GeneratedCode by the ResolverRoot type that it is about.
var registered sync.Map // of reflect.Type to GeneratedCode

// RegisterGuards tells the extension of the code with which resolvers of type R, a generated
// ResolverRoot, are called. It is called by generated code, and must not be by other.
func RegisterGuards[R any](code GeneratedCode) { registered.Store(reflect.TypeFor[R](), code) }

// codeOf returns what was registered for the ResolverRoot that the type of resolvers is or
// implements; nil if that is none, or more than one.
func codeOf(resolvers reflect.Type) *GeneratedCode {
	if resolvers == nil {
		return nil
	}
	if code, ok := registered.Load(resolvers); ok {
		return new(code.(GeneratedCode))
	}
	var found []GeneratedCode
	registered.Range(func(root, code any) bool {
		if root := root.(reflect.Type); root.NumMethod() > 0 && resolvers.Implements(root) {
			found = append(found, code.(GeneratedCode))
		}
		return true
	})
	if len(found) != 1 {
		return nil
	}
	return &found[0]
}
