package extension

import (
	"reflect"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// defaultClientErrorCodes are the codes that servers use for what is the client's fault:
// Apollo Server's, which others follow, and gqlgen's own two.
var defaultClientErrorCodes = []string{
	"BAD_USER_INPUT", "UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND", "PERSISTED_QUERY_NOT_FOUND",
	errcode.ValidationFailed, errcode.ParseFailed,
}

// isClientError reports whether err itself is a GraphQL error with a client error's code. The
// registry asks about each error of a chain.
func (e *Extension) isClientError(err error) bool {
	gqlErr, ok := err.(*gqlerror.Error)
	if !ok || gqlErr == nil {
		return false
	}
	code := reflect.ValueOf(gqlErr.Extensions["code"]) // a string, or of a type made of it
	return code.Kind() == reflect.String && e.clientErrorCodes[code.String()]
}
