package plugin

import (
	"fmt"
	"go/ast"
	"go/parser"
	"strconv"
	"strings"
)

// method is the guarded version of a resolver's method, in pieces of Go.
type method struct {
	Coordinate string
	Name       string
	Receiver   string
	Parameters string // with their types, the context first
	Results    string
	Context    string // the name of the context
	Arguments  string // the names of all parameters
}

// Methods returns the object's guarded methods. Only a template may call it, since it adds to
// the imports of the file being rendered.
func (o guardedObject) Methods() ([]method, error) {
	var methods []method
	for _, field := range o.fields {
		declaration := field.ShortResolverDeclaration()
		if field.IsBatch() {
			declaration = field.ShortBatchResolverDeclaration()
		}
		m, err := newMethod(declaration)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", field.Object.Name, field.Name, err)
		}
		m.Coordinate, m.Name = field.Object.Name+"."+field.Name, field.GoFieldName
		methods = append(methods, m)
	}
	return methods, nil
}

// newMethod takes a declaration such as "(ctx context.Context, id string) (*model.Item, error)"
// apart. Parameters keep their names, except those that would hide what the guard's body
// refers to, which are numbered, and the blank one.
func newMethod(declaration string) (method, error) {
	text := "func" + declaration
	expression, err := parser.ParseExpr(text)
	if err != nil {
		return method{}, fmt.Errorf("the resolver has no valid declaration %s: %w", declaration, err)
	}
	signature, ok := expression.(*ast.FuncType)
	if !ok || signature.Params.NumFields() == 0 || signature.Results == nil {
		return method{}, fmt.Errorf("the declaration %s is not one of a resolver", declaration)
	}
	code := func(node ast.Node) string { return text[node.Pos()-1 : node.End()-1] }

	taken := map[string]bool{"context": true, "gqlresilience": true}
	ast.Inspect(signature.Results, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok {
			taken[name.Name] = true
		}
		return true
	})
	m := method{Receiver: free("g", taken), Results: code(signature.Results)}
	var parameters, arguments []string
	for _, parameter := range signature.Params.List {
		for _, name := range parameter.Names {
			base := name.Name
			if base == "_" { // which can't be passed on
				base = "unnamed"
			}
			argument := free(base, taken)
			arguments = append(arguments, argument)
			parameters = append(parameters, argument+" "+code(parameter.Type))
		}
	}
	m.Context = arguments[0]
	m.Parameters, m.Arguments = strings.Join(parameters, ", "), strings.Join(arguments, ", ")
	return m, nil
}

// free returns name, or else name with the first number that makes it one not taken, and takes
// it.
func free(name string, taken map[string]bool) string {
	unique := name
	for i := 1; taken[unique]; i++ {
		unique = name + strconv.Itoa(i)
	}
	taken[unique] = true
	return unique
}
