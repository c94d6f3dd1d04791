// Package funcname finds the names of functions, for messages and plans.
package funcname

import (
	"reflect"
	"runtime"
	"strings"
)

// Of returns the name of fn, a function that is not nil, with the last element of its package's
// path: "carrier.(*Client).Quotes". A function literal is named after the one that it stands in.
func Of(fn any) string {
	name := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], "-fm") // a bound method's
}
