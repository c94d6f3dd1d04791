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

// Code is the code that a client would be told. Of an error whose methods panic, as those of a nil pointer may, it
// is [gqlerrors.CodeInternal]: what is told of a call must not be lost over it.
func Code(err error) (code string) {
	defer func() {
		if recover() != nil {
			code = gqlerrors.CodeInternal
		}
	}()
	return (gqlerrors.Answers{}).Code(err)
}

// ErrorType says what sort of error err is, and nothing of its text: the code that a client would
// be told, the status of the dependency's answer, or else the Go type.
func ErrorType(err error) string {
	if code := Code(err); code != gqlerrors.CodeInternal {
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

// statusOf is the HTTP status in the error's chain, in the ways that policies read it. One whose methods panic has none.
func statusOf(err error) (status int, ok bool) {
	defer func() {
		if recover() != nil {
			status, ok = 0, false
		}
	}()
	errtree.Walk(err, func(err error) (descend bool) {
		status, ok = httpstatus.Of(err)
		return !ok
	})
	return status, ok
}
