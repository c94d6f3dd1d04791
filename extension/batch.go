package extension

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A batch resolver in its guard: one call, which answers for all parents of a list.

// itemsError is the failure of a batch of which items have failed. The resolver's own error tells
// of each item, but to the policy one item that does not exist must not hide the others' failure.
type itemsError struct{ error }

func (e *itemsError) Unwrap() error { return e.error }

// batchFailure is what the attempt at a batch means to the policy: nothing has failed if the only
// errors are client's errors of some of the items.
func (r *resolution) batchFailure(a *attempt) error {
	if items, ok := a.err.(graphql.BatchErrors); ok {
		return r.itemsFailure(items)
	}
	if results := reflect.ValueOf(a.value); a.err == nil && r.selected && results.Kind() == reflect.Slice {
		if parents := r.parentCount(); results.Len() != parents {
			return &itemsError{fmt.Errorf("%d results for %d parents", results.Len(), parents)} // as gqlgen tells each item
		}
	}
	return a.err
}

func (r *resolution) itemsFailure(items graphql.BatchErrors) error {
	var failed []error
	all := items.Errors()
	denied := 0
	for _, err := range all {
		switch {
		case err == nil:
		case r.op.extension.registry.IsClientError(err):
			denied++
		default:
			failed = append(failed, err)
		}
	}
	switch {
	case len(failed) > 0:
		return &itemsError{errors.Join(failed...)}
	case denied > 0 && denied == len(all):
		return items // all are the client's fault, and so is the batch
	default:
		return nil
	}
}

// parentCount is how many parents the call answers for.
func (r *resolution) parentCount() int {
	if group, ok := r.group(); ok {
		return reflect.ValueOf(group.Parents).Len()
	}
	return 1
}

// group is the list's items that the batch answers for. It is not ok for a parent on its own.
func (r *resolution) group() (*graphql.BatchParentGroup, bool) {
	group := graphql.GetBatchParentGroup(r.ctx, r.fc.Object)
	_, inList := graphql.BatchParentIndex(r.ctx)
	return group, group != nil && inList
}

// paths are where the field stands in the response.
func (r *resolution) paths() []ast.Path {
	group, ok := r.group()
	if !ok || !r.guarded || !r.field.batch {
		return []ast.Path{graphql.GetPath(r.ctx)}
	}
	var paths []ast.Path
	if group.IndexMap != nil { // the list has items of other types too
		for index := range group.IndexMap {
			paths = append(paths, graphql.BatchPathWithIndex(r.ctx, index))
		}
		return paths
	}
	for index := range r.parentCount() {
		paths = append(paths, graphql.BatchPathWithIndex(r.ctx, index))
	}
	return paths
}
