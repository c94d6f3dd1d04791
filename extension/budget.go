package extension

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Budget is what one operation may take, all its fields together. Of a subscription it is
// what the start may take, and again each event.
type Budget struct {
	// Timeout is how long the operation may take. Every field with a resolver or bound method,
	// annotated or not, ends then at the latest, with a TIMEOUT that no breaker counts and a
	// fallback may answer; what is ready is returned. A field without an enforced timeout of its
	// own is waited for if its resolver ignores its context. 0: no limit.
	Timeout time.Duration

	// Header names a request header by which the caller may shorten Timeout: a duration with its
	// unit, such as "1.5s". One that can't be read fails the operation with BAD_USER_INPUT; one
	// that is longer than Timeout changes nothing. "": none. See also [ContextWithBudget].
	Header string

	// Retries is how many retries all fields together may make, so that those of nested fields
	// and of lists don't multiply. When they are used up, a field's last error stands. nil: no
	// limit.
	Retries *int

	// Concurrency is how many attempts at fields with a policy may run at once. The others
	// queue, first come first, before they ask for a slot of their bulkhead: an operation's long
	// list can't take a whole bulkhead from the others, and is not refused for its length.
	// 0: no limit.
	Concurrency int
}

// WithOperationBudget limits what each operation may take.
func WithOperationBudget(b Budget) Option {
	return func(e *Extension) {
		if e.budget != nil {
			e.mistake("WithOperationBudget: given twice")
			return
		}
		e.budget = &b
		if b == (Budget{}) {
			e.mistake("WithOperationBudget: limits nothing")
		}
		if b.Timeout < 0 {
			e.mistake("WithOperationBudget: Timeout: %v: must not be negative", b.Timeout)
		}
		if b.Retries != nil && *b.Retries < 0 {
			e.mistake("WithOperationBudget: Retries: %d: must not be negative", *b.Retries)
		}
		if b.Concurrency < 0 {
			e.mistake("WithOperationBudget: Concurrency: %d: must not be negative", b.Concurrency)
		}
		if !isHeaderName(b.Header) {
			e.mistake("WithOperationBudget: Header: %q: must be the name of a header, such as \"X-Time-Left\"", b.Header)
		}
	}
}

// isHeaderName reports whether all of the text may stand in the name of an HTTP header.
func isHeaderName(text string) bool {
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return true
}

type budgetKey struct{}

// ContextWithBudget returns a context whose operations take timeout at most, for middleware that
// knows how long a caller waits. It shortens what [WithOperationBudget] says, without which it
// has no effect. A timeout that is not positive is used up from the start.
func ContextWithBudget(ctx context.Context, timeout time.Duration) context.Context {
	return context.WithValue(ctx, budgetKey{}, timeout)
}

// timeLimit returns how long the operation of ctx may take.
func (b *Budget) timeLimit(ctx context.Context) (limit time.Duration, limited bool) {
	limit, limited = b.Timeout, b.Timeout > 0
	shorten := func(to time.Duration) {
		if !limited || to < limit {
			limit, limited = to, true
		}
	}
	if told, ok := ctx.Value(budgetKey{}).(time.Duration); ok {
		shorten(told)
	}
	// An operation whose header can't be read was refused before.
	if told, ok, _ := b.told(graphql.GetOperationContext(ctx).Headers); ok {
		shorten(told)
	}
	return limit, limited
}

// told returns the limit that the request's header names, if it does.
func (b *Budget) told(headers http.Header) (limit time.Duration, ok bool, err error) {
	if b.Header == "" {
		return 0, false, nil
	}
	text := headers.Get(b.Header)
	if text == "" {
		return 0, false, nil
	}
	limit, err = time.ParseDuration(text)
	if err != nil || limit < 0 {
		return 0, false, fmt.Errorf("header %s: %q is not a duration such as \"1.5s\"", b.Header, text)
	}
	return limit, true, nil
}

// budgeting makes the budgets of one operation: of a query or mutation one, of a subscription
// one for its start and for each event.
type budgeting struct {
	limit   time.Duration
	limited bool
	spec    policy.BudgetSpec // without a deadline
}

// budgetOf returns how to make the budgets of the operation of ctx, nil if it has none.
func (e *Extension) budgetOf(ctx context.Context) *budgeting {
	if e.budget == nil {
		return nil
	}
	limit, limited := e.budget.timeLimit(ctx)
	return &budgeting{limit, limited, policy.BudgetSpec{Retries: e.budget.Retries, Concurrency: e.budget.Concurrency}}
}

// start makes a budget whose time begins now.
func (b *budgeting) start() *policy.Budget {
	if b == nil {
		return nil
	}
	spec := b.spec
	if b.limited {
		spec.Deadline = time.Now().Add(b.limit)
	}
	return policy.NewBudget(spec)
}
