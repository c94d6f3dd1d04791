// Package errtree walks errors and what they wrap.
package errtree

import (
	"reflect"
	"slices"
)

// limit is how many errors of a tree are visited: more than any tree holds that has no cycle.
const limit = 1 << 20

// suspicious is how long a chain is that is looked at for a cycle.
const suspicious = 64

// Walk calls visit for err and everything that it wraps, joined errors included, in the order of
// [errors.As]. What lies beneath an error for which visit returns false is left out. It reports
// whether it has visited all that visit did not leave out: false of an error that wraps itself, on
// which it gives up.
func Walk(err error, visit func(error) (descend bool)) (whole bool) {
	var pending []error // the rest of the joins around err, what comes next at the end
	var seen error      // one of the chain, which would come again in a cycle
	length, until := 0, suspicious
	for range limit {
		for err == nil {
			if len(pending) == 0 {
				return true
			}
			last := len(pending) - 1
			err, pending = pending[last], pending[:last]
			seen, length, until = nil, 0, suspicious
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
		switch length++; {
		case err == nil:
		case seen != nil && err == seen:
			return false
		case length == until:
			if seen = nil; reflect.ValueOf(err).Comparable() {
				seen = err
			}
			until *= 2
		}
	}
	return false
}

// Is reports what [errors.Is] reports, and ends where that would not.
func Is(err, target error) (is bool) {
	if err == nil || target == nil {
		return err == target
	}
	comparable := reflect.ValueOf(target).Comparable()
	Walk(err, func(err error) (descend bool) {
		if is {
			return false
		}
		if is = comparable && err == target; is {
			return false
		}
		if own, has := err.(interface{ Is(error) bool }); has {
			is = own.Is(target)
		}
		return !is
	})
	return is
}

// As finds what [errors.As] finds, and ends where that would not.
func As[T error](err error) (found T, ok bool) {
	Walk(err, func(err error) (descend bool) {
		if ok {
			return false
		}
		if found, ok = err.(T); ok {
			return false
		}
		if as, has := err.(interface{ As(target any) bool }); has {
			ok = as.As(&found)
		}
		return !ok
	})
	return found, ok
}
