package extension

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
)

// degradedKey is the response's extension that lists the fields which a fallback answered.
const degradedKey = "degraded"

// degraded is a field that was answered by its fallback, as a client sees it.
type degraded struct {
	Path ast.Path `json:"path"`
	Code string   `json:"code"`          // of the error that the field would have had
	Age  *int     `json:"age,omitempty"` // of a stale answer, in whole seconds
}

// seconds is the age of a stale answer, and -1 of any other.
func (d degraded) seconds() int {
	if d.Age == nil {
		return -1
	}
	return *d.Age
}

// WithoutDegraded keeps a response from telling, under extensions.degraded, which fields were
// answered by fallbacks. An extension of that name that the server itself registers always stays
// as it is.
func WithoutDegraded() Option {
	return func(e *Extension) { e.hidesDegraded = true }
}

// answered takes note that a fallback answers for err.
func (r *resolution) answered(err error) {
	entry := degraded{Code: r.op.extension.code(err), Age: r.stale.servedAge()}
	for _, path := range r.paths() {
		entry.Path = path
		r.op.scope.Load().degrade(entry)
	}
}

// paths are where the field stands in the response. The guard of a batch answers for all items
// of a list.
func (r *resolution) paths() []ast.Path {
	path := graphql.GetPath(r.ctx)
	if !r.guarded || !r.field.batch {
		return []ast.Path{path}
	}
	group := graphql.GetBatchParentGroup(r.ctx, r.fc.Object)
	if _, inList := graphql.BatchParentIndex(r.ctx); group == nil || !inList {
		return []ast.Path{path}
	}
	var paths []ast.Path
	if group.IndexMap != nil {
		for index := range group.IndexMap {
			paths = append(paths, graphql.BatchPathWithIndex(r.ctx, index))
		}
		return paths
	}
	for index := range reflect.ValueOf(group.Parents).Len() {
		paths = append(paths, graphql.BatchPathWithIndex(r.ctx, index))
	}
	return paths
}

// code is what a client would have been told of the error.
func (e *Extension) code(err error) string {
	if shown, ok := errors.AsType[*gqlerror.Error](e.answers.Convert(err)); ok {
		if code, ok := shown.Extensions["code"].(string); ok && code != "" {
			return code
		}
	}
	return gqlerrors.CodeInternal
}

// degrade takes note of a field that its fallback answered.
func (s *scope) degrade(entry degraded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.degraded = append(s.degraded, entry)
}

// takeDegraded returns the fields that were answered by fallbacks since it was called last.
func (s *scope) takeDegraded() []degraded {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.degraded
	s.degraded = nil
	return list
}

// report tells in the response, which is complete, what of it was answered by fallbacks. Of two
// extensions of one server, the second adds to what the first has told.
func (op *operation) report(ctx context.Context, response *graphql.Response) {
	list := op.scope.Load().takeDegraded()
	if len(list) == 0 || response == nil {
		return
	}
	impair(ctx)
	if op.extension.hidesDegraded {
		return
	}
	told, isOurs := response.Extensions[degradedKey].([]degraded)
	if !isOurs && response.Extensions[degradedKey] != nil {
		return // the server's own
	}
	list = append(list, told...)
	slices.SortFunc(list, compareDegraded)
	list = slices.CompactFunc(list, func(a, b degraded) bool { return compareDegraded(a, b) == 0 }) // entities have one path
	if response.Extensions == nil {
		response.Extensions = map[string]any{}
	}
	response.Extensions[degradedKey] = list
}

func compareDegraded(a, b degraded) int {
	return cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(a.Code, b.Code), cmp.Compare(a.seconds(), b.seconds()))
}

func comparePaths(a, b ast.Path) int {
	return slices.CompareFunc(a, b, func(x, y ast.PathElement) int {
		switch x := x.(type) {
		case ast.PathIndex:
			if y, ok := y.(ast.PathIndex); ok {
				return cmp.Compare(x, y)
			}
		case ast.PathName:
			if y, ok := y.(ast.PathName); ok {
				return cmp.Compare(x, y)
			}
		}
		return 0
	})
}
