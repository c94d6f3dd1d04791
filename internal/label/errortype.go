package label

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/errtree"
	"github.com/gqlresilience/gqlresilience/internal/httpstatus"
)

// codes are made of these. Another server's may be anything, and are not shown then.
var codes = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// ErrorType says what sort of error err is, and nothing of its text: the code that a client would
// be told, the status of the dependency's answer, or else the Go type.
func ErrorType(err error) string {
	if code := (gqlerrors.Answers{}).Code(err); code != gqlerrors.CodeInternal {
		if codes.MatchString(code) {
			return code
		}
		return Other
	}
	if status, ok := statusOf(err); ok {
		return strconv.Itoa(status)
	}
	return Printable(fmt.Sprintf("%T", err))
}

// statusOf is the HTTP status in the error's chain, in the ways that policies read it.
func statusOf(err error) (status int, ok bool) {
	errtree.Walk(err, func(err error) (descend bool) {
		status, ok = httpstatus.Of(err)
		return !ok
	})
	return status, ok
}
