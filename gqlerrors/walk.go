package gqlerrors

// walk calls visit for err and everything that it wraps, in the order of [errors.As], leaving
// out what lies beneath an error for which visit returns false.
func walk(err error, visit func(error) (descend bool)) {
	if err == nil || !visit(err) {
		return
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		walk(err.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, err := range err.Unwrap() {
			walk(err, visit)
		}
	}
}
