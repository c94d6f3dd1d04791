package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
)

// operation is one that a server is in the middle of, so that calls can be measured where
// fields are resolved.
type operation struct {
	server *server
	within context.Context // of the resolver that keeps the operation open
	leave  func()          // lets that resolver return
	left   chan error      // what the operation ended with
}

// begin starts an operation; end must be called.
func begin(s *server, resolver *graph.Resolver) *operation {
	reached, leave, left := make(chan context.Context), make(chan struct{}), make(chan error, 1)
	resolver.Probe = func(ctx context.Context) {
		reached <- ctx
		<-leave
	}
	request, cancel := context.WithCancel(context.Background()) // an HTTP server's can be cancelled too
	go func() {
		defer cancel()
		_, err := s.answer(request, "{ probe { id resolved guarded } }")
		left <- err
		close(left)
	}()
	return &operation{server: s, within: <-reached, leave: sync.OnceFunc(func() { close(leave) }), left: left}
}

// end ends the operation. Once that has failed it may be called again, to no effect.
func (o *operation) end() error {
	o.leave()
	return <-o.left
}

// field returns the context that gqlgen would make for a field of one of the items.
func (o *operation) field(name string) (context.Context, error) {
	above := graphql.GetFieldContext(o.within)
	item := graphql.WithFieldContext(o.within, &graphql.FieldContext{Index: new(0), Result: &graph.Item{}})
	for _, selected := range graphql.CollectFields(graphql.GetOperationContext(o.within), above.Field.Selections, []string{"Item"}) {
		if selected.Name == name {
			child, err := above.Child(item, selected)
			return graphql.WithFieldContext(item, child), err
		}
	}
	return nil, fmt.Errorf("the operation does not select %s", name)
}
