package policy

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
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

// ErrNoFallback is what a fallback returns that has no answer after all: the call's own error
// stands, and it is as if there were no fallback.
var ErrNoFallback = errors.New("the fallback has no answer")

// ErrorKind tells the errors of a policy apart.
type ErrorKind int

const (
	KindTimeout      ErrorKind = iota + 1 // matches ErrTimeout
	KindCircuitOpen                       // matches ErrCircuitOpen
	KindBulkheadFull                      // matches ErrBulkheadFull
	KindRateLimited                       // matches ErrRateLimited
)

// String returns "timeout", "circuit open", "bulkhead full" or "rate limited".
func (k ErrorKind) String() string {
	switch k {
	case KindTimeout:
		return "timeout"
	case KindCircuitOpen:
		return "circuit open"
	case KindBulkheadFull:
		return "bulkhead full"
	case KindRateLimited:
		return "rate limited"
	default:
		return fmt.Sprintf("ErrorKind(%d)", int(k))
	}
}

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

	// Reason says more where one kind has several, such as "queue timeout". It is for humans.
	Reason string

	// Cause is what lies behind the error: what the function returned after its time was up,
	// or the failure of the attempt before a rejected one. May be nil.
	Cause error
}

// Error describes the failure for logs, with names and cause. It is not meant for clients.
func (e *Error) Error() string {
	who := fmt.Sprintf("policy %q", e.Policy)
	if e.Source != "" {
		who += " for " + e.Source
	}
	return who + ": " + e.detail()
}

// detail is the text without who failed, which a cause of the same policy need not repeat.
func (e *Error) detail() string {
	text := e.Kind.sentinel().Error()
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	switch cause, _ := e.Cause.(*Error); {
	case cause != nil && cause.Policy == e.Policy && cause.Source == e.Source:
		text += ": " + cause.detail()
	case e.Cause != nil:
		text += fmt.Sprintf(": %v", e.Cause) // and not Error, for it may be a nil pointer
	}
	return text
}

// Unwrap returns the cause. That of a nil e is nil.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}

// Is reports whether target is the sentinel of the error's kind or, for a timeout,
// [context.DeadlineExceeded]. A nil e is neither.
func (e *Error) Is(target error) bool {
	return e != nil && (target == e.Kind.sentinel() || e.Timeout() && target == context.DeadlineExceeded)
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
	if raised, _ := recovered.(*PanicError); raised != nil {
		return raised
	}
	return &PanicError{Value: recovered, Stack: debug.Stack()}
}

// Error tells the panic's value and stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the panic's value if that is an error. That of a nil e is nil.
func (e *PanicError) Unwrap() error {
	if e == nil {
		return nil
	}
	err, _ := e.Value.(error)
	return err
}

// errGoexit fails an enforced attempt whose function called [runtime.Goexit].
var errGoexit = errors.New("the function ended its goroutine with runtime.Goexit")

// FallbackError is the error of a fallback. It reads as the fallback's own; what the fallback
// was to answer for is in its chain too.
type FallbackError struct {
	Err   error // what the fallback returned
	Cause error // what it was given
}

// Error returns the text of the fallback's own error.
func (e *FallbackError) Error() string { return e.Err.Error() }

// Unwrap returns the fallback's error and the one it was given. Those of a nil e are none.
func (e *FallbackError) Unwrap() []error {
	if e == nil {
		return nil
	}
	return []error{e.Err, e.Cause}
}

// same reports that a and b are one error. Where == would panic, as for errors that are lists,
// equal ones are the same.
func same(a, b error) bool {
	if reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() {
		return a == b
	}
	return reflect.DeepEqual(a, b)
}
