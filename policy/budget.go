package policy

import (
	"math"
	"sync/atomic"
	"time"
)

// BudgetSpec says what the calls of one operation may take together. The zero value limits
// nothing.
type BudgetSpec struct {
	// Deadline is when the operation is out of time: calls then fail with a timeout, which no
	// breaker counts and a fallback may answer. Zero: never.
	Deadline time.Time

	// Retries is how many retries all calls together may make. When they are used up, the error
	// of the last attempt stands. nil: no limit beside the policies' own.
	Retries *int

	// Concurrency is how many attempts may run at once. Further ones wait, first come first,
	// before they ask for a slot of their policy's bulkhead. Those of a policy without any stage
	// do not count. 0: no limit.
	Concurrency int
}

// Budget is shared by the calls of one operation, for adapters: see [Call]. It is safe for
// concurrent use.
type Budget struct {
	deadline instant      // 0: none
	limited  bool         // retries are
	retries  atomic.Int64 // that were asked for
	most     int64        // retries
	turns    *Bulkhead    // nil: no limit
	timeUp   *Error       // the cause that contexts end with at the deadline
}

// NewBudget returns a budget of which nothing is used up.
func NewBudget(spec BudgetSpec) *Budget {
	b := &Budget{timeUp: &Error{Kind: KindTimeout, Reason: "operation budget"}}
	if !spec.Deadline.IsZero() {
		b.deadline = instantOf(spec.Deadline)
	}
	if spec.Retries != nil {
		b.limited, b.most = true, int64(*spec.Retries)
	}
	if spec.Concurrency > 0 {
		b.turns = newBulkhead("", bulkheadSettings{maxConcurrent: spec.Concurrency, maxQueue: math.MaxInt})
	}
	return b
}

// takeRetry uses up one retry, and reports false if there is none left.
func (b *Budget) takeRetry() bool {
	return b == nil || !b.limited || b.retries.Add(1) <= b.most
}

// bounds reports whether at most so many attempts may run at once.
func (b *Budget) bounds() bool { return b != nil && b.turns != nil }
