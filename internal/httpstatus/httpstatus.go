// Package httpstatus reads the HTTP status that an error tells.
package httpstatus

// Of returns the status that err itself tells, under one of the names in use for it. What err wraps
// is not asked.
func Of(err error) (status int, ok bool) {
	switch e := err.(type) {
	case interface{ StatusCode() int }:
		return e.StatusCode(), true
	case interface{ HTTPStatus() int }:
		return e.HTTPStatus(), true
	case interface{ HTTPStatusCode() int }:
		return e.HTTPStatusCode(), true
	default:
		return 0, false
	}
}
