package gqlerrors

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/internal/errtree"
)

// Info is what an error's extensions tell a client. What they don't tell, or tell in the wrong
// type, is zero.
type Info struct {
	// Code says what failed: [CodeTimeout] and its like, or any code of the server's own.
	Code string

	// HTTPStatus is the status that the error stands for, from 100 to 599. It is not the
	// status of the response.
	HTTPStatus int

	// RetryAfter is how long to wait before asking again. Never negative, and at most 68
	// years, whatever the server says.
	RetryAfter time.Duration

	// Instance names the line in the server's log that says what [CodeInternal] hides. Tell it
	// to those who run the server.
	Instance string
}

// Read looks for the first error with a code in what a GraphQL client returned: in a
// [*gqlerror.Error] or [gqlerror.List], in errors that marshal to JSON, such as gqlgen's
// client.RawJsonError, and in all that wrap or join them. The JSON may be one error, a list
// of errors, or a whole response. Without a code, Read returns false.
//
// It trusts nothing that it reads, and never panics over it. It does not recognize a
// policy error that was not converted.
func Read(err error) (info Info, ok bool) {
	errtree.Walk(err, func(err error) (descend bool) {
		if ok {
			return false
		}
		switch err := err.(type) {
		case *gqlerror.Error:
			if err == nil {
				return false
			}
			info, ok = readExtensions(err.Extensions)
		case json.Marshaler:
			info, ok = readJSON(err)
		}
		return !ok
	})
	return info, ok
}

func readExtensions(extensions map[string]any) (Info, bool) {
	code := codeIn(extensions)
	if code == "" {
		return Info{}, false
	}
	instance, _ := extensions[instanceKey].(string)
	return Info{
		Code:       code,
		HTTPStatus: status(extensions[statusKey]),
		RetryAfter: seconds(extensions[retryAfterKey]),
		Instance:   instance,
	}, true
}

// readJSON marshals with the json package, not by the method, so that nil pointers and invalid
// JSON are met there.
func readJSON(source json.Marshaler) (Info, bool) {
	text, err := json.Marshal(source)
	if err != nil {
		return Info{}, false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document any
	if decoder.Decode(&document) != nil {
		return Info{}, false
	}
	if response, ok := document.(map[string]any); ok {
		if errors, ok := response["errors"]; ok {
			document = errors
		}
	}
	list, ok := document.([]any)
	if !ok {
		list = []any{document}
	}
	for _, element := range list {
		element, _ := element.(map[string]any)
		extensions, _ := element["extensions"].(map[string]any)
		if info, ok := readExtensions(extensions); ok {
			return info, true
		}
	}
	return Info{}, false
}
