// Package errtree walks errors and what they wrap.
package errtree

import "slices"

// limit is how many errors of a tree are visited: more than any tree holds that has no cycle.
const limit = 1 << 20

// Walk calls visit for err and everything that it wraps, joined errors included, in the order of
// [errors.As]. What lies beneath an error for which visit returns false is left out. Of an
// error that wraps itself, Walk gives up in the end.
func Walk(err error, visit func(error) (descend bool)) {
	var pending []error // the rest of the joins around err, what comes next at the end
	for range limit {
		for err == nil {
			if len(pending) == 0 {
				return
			}
			last := len(pending) - 1
			err, pending = pending[last], pending[:last]
		}
		if !visit(err) {
			err = nil
			continue
		}
		switch wrapping := err.(type) {
		case interface{ Unwrap() error }:
			err = wrapping.Unwrap()
		case interface{ Unwrap() []error }:
			err = nil
			for _, wrapped := range slices.Backward(wrapping.Unwrap()) {
				pending = append(pending, wrapped)
			}
		default:
			err = nil
		}
	}
}
