package policy

import (
	"net/http"
	"reflect"
	"time"

	"github.com/gqlresilience/gqlresilience/internal/errtree"
	"github.com/gqlresilience/gqlresilience/internal/httpstatus"
)

// class is what an attempt's error means to retry, breaker and fallback.
type class uint8

const (
	classSuccess    class = iota // no error
	classCallerDone              // the caller cancelled or its own deadline passed
	classTimeout                 // the attempt's own time was up
	classOutOfTime               // the time of the whole operation was up
	classRejection               // a policy, this one or another, let nothing through
	classPanic                   // the function panicked, or ended its goroutine
	classPermanent
	classClientError
	classFailure // everything else
)

// classify reads an error that the function returned. The first class, in the order above,
// that any error in the tree belongs to wins.
func classify(err error, isClientError func(error) bool) class {
	var found struct{ rejection, panicked, permanent, client bool }
	walk(err, func(e error) {
		switch e := e.(type) {
		case *Error:
			found.rejection = found.rejection || e.rejection()
		case *PanicError:
			found.panicked = true
		case *permanentError:
			found.permanent = true
		case *clientError:
			found.client = true
		default:
			found.panicked = found.panicked || e == errGoexit
			found.client = found.client || tellsClientStatus(e) || isClientError(e)
		}
	})
	switch {
	case found.rejection:
		return classRejection
	case found.panicked:
		return classPanic
	case found.permanent:
		return classPermanent
	case found.client:
		return classClientError
	default:
		return classFailure
	}
}

// tellsClientStatus reports whether err itself tells an HTTP status that is the caller's fault.
func tellsClientStatus(err error) bool {
	status, _ := httpstatus.Of(err)
	return status >= 400 && status < 500 &&
		status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

// retryAfterOf returns the longest delay that the error's tree asks for, or 0.
func retryAfterOf(err error) time.Duration {
	var longest time.Duration
	walk(err, func(e error) {
		switch e := e.(type) {
		case *retryAfterError:
			longest = max(longest, e.after)
		case *ResponseError:
			longest = max(longest, e.RetryAfter)
		}
	})
	return longest
}

// walk visits err and all that it wraps, joined errors included. It does not look behind an
// [*Error]: what led a policy to its verdict does not change the verdict. A nil pointer says
// nothing, and is left out.
func walk(err error, visit func(error)) {
	errtree.Walk(err, func(e error) (descend bool) {
		if isNilPointer(e) {
			return false
		}
		visit(e)
		_, verdict := e.(*Error)
		return !verdict
	})
}

// isNilPointer reports whether err is a pointer to nothing, most of whose methods would panic.
func isNilPointer(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// retried is the built-in answer for RetrySpec.RetryIf.
func (c class) retried() bool { return c == classTimeout || c == classFailure }

// outcome is the built-in answer for CircuitBreakerSpec.RecordIf.
func (c class) outcome() outcome {
	switch c {
	case classSuccess:
		return success
	case classCallerDone, classOutOfTime, classRejection, classClientError:
		return ignored
	default:
		return failure
	}
}

// told is what the end of an attempt or call of the class is told as.
func (c class) told() Outcome {
	switch c {
	case classSuccess:
		return OutcomeSuccess
	case classCallerDone:
		return OutcomeCancelled
	case classTimeout, classOutOfTime:
		return OutcomeTimeout
	case classRejection:
		return OutcomeRejected
	case classClientError:
		return OutcomeClientError
	default:
		return OutcomeFailure
	}
}

// answered is the built-in answer for FallbackSpec.FallbackIf.
func (c class) answered() bool { return c != classCallerDone && c != classClientError }

// ofFunction reports whether RetryIf and RecordIf are asked about such an error.
func (c class) ofFunction() bool {
	return c == classTimeout || c == classPermanent || c == classClientError || c == classFailure
}

// verdict is what a call that has come to err tells the breaker.
func (b *CircuitBreaker) verdict(c class, err error) outcome {
	if b.settings.recordIf != nil && c.ofFunction() {
		if b.settings.recordIf(err) {
			return failure
		}
		return ignored
	}
	return c.outcome()
}
