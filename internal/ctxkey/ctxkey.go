// Package ctxkey learns the keys under which other packages keep things in contexts.
package ctxkey

import "context"

// Cancel is the key under which package context finds the context that knows its children, and
// the cause of its end.
var Cancel = AskedFor(func(ctx context.Context) { _ = context.Cause(ctx) })

// AskedFor returns the key that ask, which may panic, looks up first.
func AskedFor(ask func(context.Context)) any {
	asked := &askedContext{Context: context.Background()}
	func() {
		defer func() { _ = recover() }() // that there is nothing under the key
		ask(asked)
	}()
	return asked.key
}

type askedContext struct {
	context.Context
	key any
}

// Err makes context.Cause ask for one.
func (a *askedContext) Err() error { return context.Canceled }

func (a *askedContext) Value(key any) any {
	if a.key == nil {
		a.key = key
	}
	return nil
}
