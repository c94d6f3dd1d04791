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

// batchFailure is what the attempt at a batch, or at federation's finder of many entities, means to
// the policy: nothing has failed if the only errors are client's errors of some of the items.
//
// The items' errors themselves never go to the policy: as the cause of another failure they would
// be taken for the answer.
func (r *resolution) batchFailure(a *attempt) error {
	items, listed := a.err.(graphql.BatchErrors)
	if !r.field.batch { // of a finder's error, gqlgen looks deeper
		items, listed = errors.AsType[graphql.BatchErrors](a.err)
	}
	switch {
	case a.err != nil && !listed:
		return a.err
	case r.field.batch && r.selected:
		if err := r.miscounted(a.value, items); err != nil {
			return &itemsError{err}
		}
	}
	if listed {
		return r.itemsFailure(items)
	}
	return nil
}

// miscounted is what gqlgen tells each item if there are too few or too many results or errors.
func (r *resolution) miscounted(value any, items graphql.BatchErrors) error {
	parents := r.parentCount()
	if results := reflect.ValueOf(value); results.Kind() == reflect.Slice && results.Len() != parents {
		return fmt.Errorf("%d results for %d parents", results.Len(), parents)
	}
	if items != nil && len(items.Errors()) != parents {
		return fmt.Errorf("%d errors for %d parents", len(items.Errors()), parents)
	}
	return nil
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
		return &itemsError{errors.Join(all...)} // all are the client's fault, and so is the batch
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
	if !ok || !r.guarded || !r.selected || !r.field.batch {
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
