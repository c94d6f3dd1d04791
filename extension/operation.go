package extension

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// operation is the state of one GraphQL operation as one extension knows it, found in its
// context.
type operation struct {
	extension *Extension
	server    *server
	kind      ast.Operation
	oc        *graphql.OperationContext // gqlgen's, which tells this operation from one around it
	outer     *operation                // as an extension that was registered before knows it
	budgeting *budgeting                // nil: there is no budget

	whole scope
	// scope is that of the response being made: whole for queries, mutations and the start
	// of a subscription, and one of its own for each of a subscription's events.
	scope atomic.Pointer[scope]
}

type operationKey struct{}

// operationOf returns the operation of ctx as the extension that was registered last knows it.
func operationOf(ctx context.Context) *operation {
	op, _ := ctx.Value(operationKey{}).(*operation)
	return op
}

// ifOf returns the operation if it is gqlgen's oc, nil if it is one around that: a resolver may call
// a server.
func (op *operation) ifOf(oc *graphql.OperationContext) *operation {
	// Extensions may copy gqlgen's.
	if op == nil || op.oc.Operation != oc.Operation || !op.oc.Stats.OperationStart.Equal(oc.Stats.OperationStart) {
		return nil
	}
	return op
}

// as returns the operation as the extension knows it, nil if it does not.
func (op *operation) as(e *Extension) *operation {
	for ; op != nil; op = op.outer {
		if op.extension == e {
			return op
		}
	}
	return nil
}

// fieldOf returns what the middleware is to run the field under, nil for nothing.
func (op *operation) fieldOf(key fieldKey) *field {
	if f := op.server.fields[key]; f != nil || op.budgeting == nil || !op.budgeting.limited {
		return f
	}
	if op.server.isEntities(key) {
		return nil // out of time it would be null, with the entities that are ready: each ends for itself, in its finder's guard
	}
	return op.server.unprotected[key]
}

// isEntities reports whether the field is the one that federation's entity finders run within.
func (s *server) isEntities(key fieldKey) bool {
	return key.name == "_entities" && key.object == rootName(s.schema.Query)
}

// isFinder reports whether the field is an entity finder, which passes no field middleware.
func (s *server) isFinder(key fieldKey) bool {
	return isEntityFinder(s.schema, schema.Field{Object: key.object, Name: key.name})
}

// responses wraps the operation's stream of responses, to learn when they are done.
func (op *operation) responses(next graphql.ResponseHandler) graphql.ResponseHandler {
	if op.kind == ast.Subscription {
		return func(ctx context.Context) *graphql.Response {
			event := &scope{budgeting: op.budgeting}
			op.scope.Store(event)
			defer event.end()
			response := next(ctx)
			if response == nil {
				op.whole.end()
			}
			op.report(ctx, response)
			return response
		}
	}
	return func(ctx context.Context) (response *graphql.Response) {
		defer func() {
			if response == nil || response.HasNext == nil || !*response.HasNext {
				op.whole.end()
			}
		}()
		response = next(ctx)
		op.report(ctx, response)
		return response
	}
}

// scope is a stretch of an operation. At its end it releases those who still wait on the
// context of an attempt that was over before.
type scope struct {
	budgeting *budgeting // nil: there is no budget
	watcher   policy.Watcher
	roots     roots

	mu sync.Mutex
	// All below is guarded by mu.
	started  *policy.Budget // made when the first field asks for it
	degraded []degraded     // fields
}

// budget returns what the fields of the scope may take together, nil for no limit. The time of a
// subscription's event begins with its first field, for nobody knows when it will come.
func (s *scope) budget() *policy.Budget {
	if s.budgeting == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started == nil {
		s.started = s.budgeting.start()
	}
	return s.started
}

func (s *scope) end() {
	s.watcher.Stop()
	s.roots.end()
}
