package policy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// What a policy's own errors match with [errors.Is]. For the details, recover the [*Error].
var (
	// ErrTimeout: the attempt, or the whole run, took longer than the policy allows. Such an
	// error matches [context.DeadlineExceeded] too.
	ErrTimeout = errors.New("the operation timed out")

	// ErrCircuitOpen: the circuit breaker lets nothing pass.
	ErrCircuitOpen = errors.New("the circuit is open")

	// ErrBulkheadFull: the bulkhead has no slot and no place in its queue, a place in the
	// queue took too long to become a slot, or too many abandoned attempts are running.
	ErrBulkheadFull = errors.New("the bulkhead is full")

	// ErrRateLimited: the rate limit of the dependency is used up.
	ErrRateLimited = errors.New("the rate limit is exceeded")
)

// ErrorKind tells the errors of a policy apart.
type ErrorKind int

const (
	KindTimeout      ErrorKind = iota + 1 // matches ErrTimeout
	KindCircuitOpen                       // matches ErrCircuitOpen
	KindBulkheadFull                      // matches ErrBulkheadFull
	KindRateLimited                       // matches ErrRateLimited
)

func (k ErrorKind) sentinel() error {
	switch k {
	case KindTimeout:
		return ErrTimeout
	case KindCircuitOpen:
		return ErrCircuitOpen
	case KindBulkheadFull:
		return ErrBulkheadFull
	case KindRateLimited:
		return ErrRateLimited
	default:
		return errors.New("unknown kind of policy error")
	}
}

// Error is what a policy itself fails a call with. Every kind but [KindTimeout] is a
// rejection: the function was not called.
type Error struct {
	Kind   ErrorKind
	Policy string // the policy's name
	Source string // what ran under it: "Query.shippingQuotes", or what WithSource said

	// RetryAfter is how long to wait until a call may pass. Zero: not known.
	RetryAfter time.Duration

	// Reason says more where one kind has several, such as "queue timeout".
	Reason string

	// Cause is what lies behind the error: what the function returned after its time was up,
	// or the failure of the attempt before a rejected one. May be nil.
	Cause error
}

// Error describes the failure for logs, with names and cause. It is not meant for clients.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "policy %q", e.Policy)
	if e.Source != "" {
		text.WriteString(" for " + e.Source)
	}
	text.WriteString(": " + e.Kind.sentinel().Error())
	if e.Reason != "" {
		text.WriteString(" (" + e.Reason + ")")
	}
	if e.Cause != nil {
		text.WriteString(": " + e.Cause.Error())
	}
	return text.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is the sentinel of the error's kind or, for a timeout,
// [context.DeadlineExceeded].
func (e *Error) Is(target error) bool {
	return target == e.Kind.sentinel() || e.Timeout() && target == context.DeadlineExceeded
}

// Timeout reports whether the error is a timeout, as [net.Error] does.
func (e *Error) Timeout() bool { return e.Kind == KindTimeout }

func (e *Error) rejection() bool { return e.Kind != KindTimeout }

// PanicError is a panic of an enforced attempt, which ran on a goroutine of its own. [Execute]
// raises it again on its caller's goroutine. A Func of [Call] may return one to report a
// panic that it recovered itself.
type PanicError struct {
	Value any    // what the function panicked with
	Stack []byte // where, as debug.Stack gives it
}

// newPanicError makes the error of a value just recovered. The panic of a call inside the
// attempt, raised again, has the stack that is of interest already.
func newPanicError(recovered any) *PanicError {
	if raised, ok := recovered.(*PanicError); ok {
		return raised
	}
	return &PanicError{Value: recovered, Stack: debug.Stack()}
}

// Error tells the panic's value and stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errGoexit fails an enforced attempt whose function called [runtime.Goexit].
var errGoexit = errors.New("the function ended its goroutine with runtime.Goexit")
