package extension

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/99designs/gqlgen/graphql"
)

// sharingMistake reports what executable schemas that were made of one schema can't share in an
// extension, of which first is served already: operations on both find that one.
func (e *Extension) sharingMistake(es graphql.ExecutableSchema, first *server) error {
	if isSame(es, first.executable) {
		return nil
	}
	var errs []error
	if !maps.Equal(newGenerated(es, e.resolvers).guarded, first.guards) {
		errs = append(errs, errors.New("two executable schemas of one schema, whose resolvers have different guards: give each an extension of its own, with the same registry"))
	}
	if omitsPanicHandler(es) != first.omitsPanicHandler {
		errs = append(errs, errors.New("two executable schemas of one schema, only one of which was generated with omit_panic_handler: give each an extension of its own, with the same registry"))
	}
	if len(e.stale) > 0 {
		coordinate := slices.Min(slices.Collect(maps.Keys(e.stale)))
		errs = append(errs, fmt.Errorf("WithStale(%q): two executable schemas would share the values: give each an extension of its own, with the same registry", coordinate))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("gqlresilience:\n%w", err)
	}
	return nil
}

func isSame(a, b graphql.ExecutableSchema) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
