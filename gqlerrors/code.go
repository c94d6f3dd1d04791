package gqlerrors

import (
	"reflect"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/causes"
	"github.com/gqlresilience/gqlresilience/internal/errtree"
	"github.com/gqlresilience/gqlresilience/policy"
)

// What a client finds in an error's extensions under "code", with its "httpStatus" and its
// message. The response itself is still HTTP 200 with partial data.
const (
	// CodeTimeout is [policy.ErrTimeout]: 504, "The operation timed out".
	CodeTimeout = "TIMEOUT"

	// CodeCircuitOpen is [policy.ErrCircuitOpen]: 503, "Service temporarily unavailable". Its
	// "retryAfter", where known, is how many seconds until a probe may pass.
	CodeCircuitOpen = "CIRCUIT_OPEN"

	// CodeBulkheadFull is [policy.ErrBulkheadFull]: 503, "Server is at capacity".
	CodeBulkheadFull = "BULKHEAD_FULL"

	// CodeRateLimited is [policy.ErrRateLimited]: 503, "Rate limit of a dependency exceeded".
	// Its "retryAfter", where known, is how many seconds until a call may pass.
	CodeRateLimited = "RATE_LIMITED"

	// CodeInternal is what [MaskUnknown] makes of an error that clients are not meant to see:
	// 500, "Internal server error". Its "instance" names the line in the server's log.
	CodeInternal = "INTERNAL"
)

// The keys in an error's extensions.
const (
	codeKey       = "code"
	statusKey     = "httpStatus"
	retryAfterKey = "retryAfter"
	instanceKey   = "instance"
)

// Code returns the code that a client would be told of err: that of the GraphQL error which gqlgen
// reports once a is what converts it. [CodeInternal] stands for an error without a code. It knows
// nothing of presenters: [MaskUnknown] may hide the error that the code is of.
func (a Answers) Code(err error) string {
	if failure, ok := err.(*policy.Error); ok && failure != nil { // as when an outage makes rejections by the thousand
		if answer, ok := a.of(failure.Kind); ok {
			return answer.Code
		}
	}
	if shown, ok := errtree.As[*gqlerror.Error](causes.Hide(a.Convert(err))); ok && shown != nil {
		if code := codeIn(shown.Extensions); code != "" {
			return code
		}
	}
	return CodeInternal
}

// codeIn returns the code in an error's extensions, which may be of a type made of string. "":
// there is none, or it is no text.
func codeIn(extensions map[string]any) string {
	if code := reflect.ValueOf(extensions[codeKey]); code.Kind() == reflect.String {
		return code.String()
	}
	return ""
}

// isCoded reports whether an error's extensions hold a code, of whatever type.
func isCoded(extensions map[string]any) bool {
	code := reflect.ValueOf(extensions[codeKey])
	return code.IsValid() && (code.Kind() != reflect.String || code.Len() > 0)
}
