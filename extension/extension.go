package extension

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/causes"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Extension is a gqlgen handler extension; make it with [New] and give it to a server's Use.
// It may serve several servers, whose fields then share the registry's gates; of one schema, only
// with the same guards. A server needs one: of two that have a policy for the same field, the one registered first runs it.
type Extension struct {
	registry         *policy.Registry
	fields           map[string]Field    // by coordinate
	fallbacks        map[string]fallback // by coordinate
	stale            map[string]stale    // by coordinate
	clientErrorCodes map[string]bool
	logger           *slog.Logger // nil: none was given
	unmapped         bool         // policy errors pass as they are
	answers          gqlerrors.Answers
	budget           *Budget // of an operation; nil: none
	hidesDegraded    bool    // responses don't tell which fields fallbacks answered
	resolvers        any     // a ResolverRoot for schemas that hide theirs; nil: none was given
	strict           bool    // warnings are errors
	mistakes         []error // of the options

	mu       sync.Mutex              // serialises Validate, and guards warnings
	warnings []string                // of all servers
	servers  atomic.Pointer[servers] // nil before the first Validate
}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationContextMutator
	graphql.OperationInterceptor
	graphql.ResponseInterceptor
	graphql.FieldInterceptor
} = (*Extension)(nil)

// New returns an extension that takes its policies from registry. It also tells the registry
// which GraphQL errors are the client's fault: see [WithClientErrorCodes]. Mistakes in the
// options are reported when a server's Use validates the extension.
func New(registry *policy.Registry, options ...Option) *Extension {
	e := &Extension{
		registry:         registry,
		fields:           map[string]Field{},
		fallbacks:        map[string]fallback{},
		stale:            map[string]stale{},
		clientErrorCodes: map[string]bool{},
	}
	for _, code := range defaultClientErrorCodes {
		e.clientErrorCodes[code] = true
	}
	for _, option := range options {
		if option == nil {
			e.mistake("New: an option is nil")
			continue
		}
		option(e)
	}
	if registry == nil {
		e.mistake("New: the registry is nil")
	} else {
		registry.AddClientErrorClassifier(e.isClientError)
		if e.logger != nil {
			registry.Subscribe(logTo(e.logger))
		}
	}
	return e
}

// ExtensionName returns "Resilience".
func (e *Extension) ExtensionName() string { return "Resilience" }

// MutateOperationContext refuses operations whose header for [Budget] can't be read. It changes
// nothing. It is called by gqlgen.
func (e *Extension) MutateOperationContext(_ context.Context, oc *graphql.OperationContext) *gqlerror.Error {
	if e.budget == nil {
		return nil
	}
	if _, _, err := e.budget.told(oc.Headers); err != nil {
		return &gqlerror.Error{Err: err, Message: err.Error(), Extensions: map[string]any{"code": "BAD_USER_INPUT"}}
	}
	return nil
}

// InterceptOperation prepares what the operation's fields need. It is called by gqlgen.
func (e *Extension) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	s := e.serverOf(oc.Operation)
	if s == nil {
		return next(ctx)
	}
	budgeting := e.budgetOf(ctx)
	op := &operation{extension: e, server: s, kind: oc.Operation.Operation, oc: oc, outer: operationOf(ctx).ifOf(oc), budgeting: budgeting}
	op.whole.budgeting, op.whole.started = budgeting, budgeting.start()
	op.scope.Store(&op.whole)
	if e.answers != nil {
		ctx = gqlerrors.WithAnswers(ctx, e.answers)
	}
	return op.responses(next(context.WithValue(ctx, operationKey{}, op)))
}

// InterceptResponse tells [NoStore] of responses with errors. It is called by gqlgen.
func (e *Extension) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	response := next(ctx)
	if response != nil && len(response.Errors) > 0 {
		impair(ctx)
	}
	return response
}

// InterceptField runs a field under its policy, if it has one and no guard. It is called by
// gqlgen.
func (e *Extension) InterceptField(ctx context.Context, next graphql.Resolver) (any, error) {
	fc := graphql.GetFieldContext(ctx)
	if op, f := e.policyOf(ctx, fc); f != nil && (f.bare || op.outer == nil || !isAttempt(ctx, fc)) {
		return resolve(ctx, op, f, fc, next)
	}
	value, err := next(ctx)
	return value, e.mapped(err)
}

// policyOf returns the operation of a field that the middleware runs under a policy, and the field,
// nil if it is none. That most fields are none is found out by their definitions alone.
func (e *Extension) policyOf(ctx context.Context, fc *graphql.FieldContext) (*operation, *field) {
	if !fc.IsMethod {
		return nil, nil
	}
	f, known := e.defined(fc)
	if known && (f == nil || f.guarded) {
		return nil, nil
	}
	op := operationOf(ctx).as(e)
	if op != nil && !known {
		f = op.fieldOf(fieldKey{fc.Object, fc.Field.Name})
	}
	if op == nil || f == nil || f.guarded {
		return nil, nil
	}
	return op, f
}

// defined returns the field with a policy, nil if it has none. It is not known if the field was
// selected through an interface, whose definition it then has, or if an operation's time limit may
// end all fields.
func (e *Extension) defined(fc *graphql.FieldContext) (f *field, known bool) {
	servers, object := e.servers.Load(), fc.Field.ObjectDefinition
	if servers == nil || e.budget != nil || object == nil || object.Name != fc.Object {
		return nil, false
	}
	return servers.byDefinition[fc.Field.Definition], true
}

// isAttempt reports whether ctx is that of an attempt at the field already, which the field
// middleware of an extension that has a policy for it makes.
func isAttempt(ctx context.Context, fc *graphql.FieldContext) bool {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	return ok && !a.guarded && !a.under.bare && a.fieldContext() == fc
}

// mapped is err as gqlgen is to report it.
func (e *Extension) mapped(err error) error {
	if err == nil {
		return nil
	}
	if !e.unmapped {
		err = e.answers.Convert(err)
	}
	return causes.Hide(err)
}

// serverOf finds the server whose schema the operation was validated against.
func (e *Extension) serverOf(op *ast.OperationDefinition) *server {
	known := e.servers.Load()
	if known == nil || len(op.SelectionSet) == 0 {
		return nil
	}
	if known.only != nil {
		return known.only
	}
	switch first := op.SelectionSet[0].(type) {
	case *ast.Field:
		return known.byRoot[first.ObjectDefinition]
	case *ast.InlineFragment:
		return known.byRoot[first.ObjectDefinition]
	case *ast.FragmentSpread:
		return known.byRoot[first.ObjectDefinition]
	default:
		return nil
	}
}
