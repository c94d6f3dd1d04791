package extension

import (
	"cmp"
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// degradedKey is the response's extension that lists the fields which a fallback answered.
const degradedKey = "degraded"

// degraded is a field that was answered by its fallback, as a client sees it.
type degraded struct {
	Path ast.Path `json:"path"`          // its parent may have become null, for another field's sake
	Code string   `json:"code"`          // of the error that the field would have had
	Age  *int     `json:"age,omitempty"` // of a stale answer, in whole seconds

	told   int  // errors at the path, which the fallback has added beside its value
	shared bool // the path is that of other fields too: an error there tells nothing
}

// failed reports whether one of the errors, counted by path, is that of the field: gqlgen could not
// take the fallback's value.
func (d degraded) failed(errs map[string]int) bool {
	return !d.shared && errs[d.Path.String()] > d.told
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
	entry := degraded{
		Code: r.op.extension.answers.Code(err), Age: r.stale.servedAge(),
		shared: r.field.finder, told: len(graphql.GetFieldErrors(r.ctx, r.fc)),
	}
	for _, path := range r.paths() {
		entry.Path = path
		r.op.scope.Load().degrade(entry)
	}
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
	if response == nil {
		return
	}
	if len(response.Errors) > 0 { // also those that other extensions have added
		impair(ctx)
	}
	list := append(op.whole.takeDegraded(), op.scope.Load().takeDegraded()...) // whole's is that of a stream's start
	if len(list) > 0 {
		errs := map[string]int{}
		for _, err := range response.Errors {
			errs[err.Path.String()]++
		}
		list = slices.DeleteFunc(list, func(d degraded) bool { return d.failed(errs) })
	}
	if len(list) == 0 {
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
