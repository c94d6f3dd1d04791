package extension

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A batch resolver in its guard: one call, which answers for all parents of a list.

// itemsError is the failure of a batch of which items have failed. The resolver's own error tells
// of each item, but to the policy one item that does not exist must not hide the others' failure.
type itemsError struct {
	error
	told error // the resolver's own
}

func (e *itemsError) Unwrap() error { return e.error }

// batchFailure is what the attempt at a batch, or at federation's finder of many entities, means to
// the policy: nothing has failed if the only errors are client's errors of some of the items.
//
// The items' errors themselves never go to the policy: as the cause of another failure they would
// be taken for the answer.
func (a *attempt) batchFailure(value any, err error) error {
	items, listed := err.(graphql.BatchErrors)
	if !a.under.batch { // of a finder's error, gqlgen looks deeper
		items, listed = errors.AsType[graphql.BatchErrors](err)
	}
	switch {
	case err != nil && !listed:
		return err
	case a.under.batch && a.selected:
		if miscount := a.miscounted(value, items); miscount != nil {
			return &itemsError{miscount, err}
		}
	}
	if !listed {
		return nil
	}
	if failure := a.itemsFailure(items); failure != nil {
		return &itemsError{failure, err}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.demand().items = err
	return nil
}

// itemsError is what a batch of which nothing has failed tells of its items, nil if nothing.
func (a *attempt) itemsError() error {
	if d := a.demanded.Load(); d != nil {
		return d.items
	}
	return nil
}

// miscounted is what gqlgen tells each item if there are too few or too many results or errors.
func (a *attempt) miscounted(value any, items graphql.BatchErrors) error {
	parents := parentCount(a.Caller(), a.fc)
	if results := reflect.ValueOf(value); results.Kind() == reflect.Slice && results.Len() != parents {
		return fmt.Errorf("%d results for %d parents", results.Len(), parents)
	}
	if items != nil && len(items.Errors()) != parents {
		return fmt.Errorf("%d errors for %d parents", len(items.Errors()), parents)
	}
	return nil
}

func (a *attempt) itemsFailure(items graphql.BatchErrors) error {
	var failed []error
	all := items.Errors()
	denied := 0
	for _, err := range all {
		switch {
		case err == nil:
		case a.op.extension.registry.IsClientError(err):
			denied++
		default:
			failed = append(failed, err)
		}
	}
	switch {
	case len(failed) > 0:
		return errors.Join(failed...)
	case denied > 0 && denied == len(all):
		return errors.Join(all...) // all are the client's fault, and so is the batch
	default:
		return nil
	}
}

// parentCount is how many parents the call answers for.
func parentCount(ctx context.Context, fc *graphql.FieldContext) int {
	if group, ok := batchGroup(ctx, fc); ok {
		return reflect.ValueOf(group.Parents).Len()
	}
	return 1
}

// batchGroup is the list's items that the batch answers for. It is not ok for a parent on its own.
func batchGroup(ctx context.Context, fc *graphql.FieldContext) (*graphql.BatchParentGroup, bool) {
	group := graphql.GetBatchParentGroup(ctx, fc.Object)
	_, inList := graphql.BatchParentIndex(ctx)
	return group, group != nil && inList
}

// paths are where the field stands in the response.
func (r *resolution) paths() []ast.Path {
	group, ok := batchGroup(r.ctx, r.fc)
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
	for index := range parentCount(r.ctx, r.fc) {
		paths = append(paths, graphql.BatchPathWithIndex(r.ctx, index))
	}
	return paths
}
