package directive

import "github.com/vektah/gqlparser/v2/ast"

func isText(value *ast.Value) bool {
	return value.Kind == ast.StringValue || value.Kind == ast.BlockValue
}

// kindOf names the kind of a value that should have been of another.
func kindOf(value *ast.Value) string {
	switch value.Kind {
	case ast.Variable:
		return "a variable"
	case ast.IntValue, ast.FloatValue:
		return "a number"
	case ast.StringValue, ast.BlockValue:
		return "a string"
	case ast.BooleanValue:
		return "a boolean"
	case ast.EnumValue:
		return "a name without quotes"
	case ast.ListValue:
		return "a list"
	case ast.ObjectValue:
		return "an object"
	default:
		return "an unknown kind of value"
	}
}

// source writes a value as it stands in a schema, without what lists and objects hold. Unlike
// [ast.Value.String], it does not panic on an unknown kind.
func source(value *ast.Value) string {
	if value == nil {
		return ""
	}
	switch value.Kind {
	case ast.Variable, ast.StringValue, ast.BlockValue:
		return value.String()
	case ast.ListValue:
		return "[…]"
	case ast.ObjectValue:
		return "{…}"
	default:
		return value.Raw
	}
}
