package gqlerrors

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

// isCoded reports whether an error's extensions hold a code, of whatever type.
func isCoded(extensions map[string]any) bool {
	code := extensions[codeKey]
	return code != nil && code != ""
}
