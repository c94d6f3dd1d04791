package gqlerrors

import (
	"net/http"

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
)

// The keys in an error's extensions.
const (
	codeKey       = "code"
	statusKey     = "httpStatus"
	retryAfterKey = "retryAfter"
)

// answer is what a client is told about one kind of policy error.
type answer struct {
	code       string
	status     int
	message    string
	retryAfter bool // whether to say when to come back
}

var answers = map[policy.ErrorKind]answer{
	policy.KindTimeout:      {CodeTimeout, http.StatusGatewayTimeout, "The operation timed out", false},
	policy.KindCircuitOpen:  {CodeCircuitOpen, http.StatusServiceUnavailable, "Service temporarily unavailable", true},
	policy.KindBulkheadFull: {CodeBulkheadFull, http.StatusServiceUnavailable, "Server is at capacity", false},
	policy.KindRateLimited:  {CodeRateLimited, http.StatusServiceUnavailable, "Rate limit of a dependency exceeded", true},
}
