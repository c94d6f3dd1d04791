package extension

import (
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema"
)

// nesting finds the fields with retries that lie above others. It knows types by number, for in a
// large schema there are many ways up to go.
type nesting struct {
	fields []schema.Field // of the check, sorted
	reach  reach
	types  []nestedType
	number map[string]int // of types, by name
	found  map[nestedKey][]retried

	climbed [][2]int // by type: the climb that was there last, without and with a list in between
	noted   []int    // by field: likewise
	climbs  int
}

// nestedType is an object type, interface or union.
type nestedType struct {
	parents   []nestedParent // that are declared with it
	abstracts []int          // that it belongs to
}

// nestedParent is a field that leads to a type.
type nestedParent struct {
	object, field int // field: -1 if it is without retries
	attempts      int
	lists         int // within each other
}

// nestedKey is what the answer depends on.
type nestedKey struct {
	object              string
	batched, idempotent bool
}

// retried is a field with retries above another.
type retried struct {
	field    int
	attempts int
	listed   bool // there is a list in between: the lower field may run many times
}

func newNesting(c *check, ancestry *schema.Ancestry) *nesting {
	n := &nesting{fields: c.fields, reach: c.reach, number: map[string]int{}, found: map[nestedKey][]retried{}}
	names := slices.Sorted(maps.Keys(c.schema.Types))
	for i, name := range names {
		n.number[name] = i
	}
	index := map[string]int{}
	for i, f := range c.fields {
		index[f.Coordinate()] = i
	}
	n.types = make([]nestedType, len(names))
	for i, name := range names {
		for _, abstract := range ancestry.Abstracts(name) {
			n.types[i].abstracts = append(n.types[i].abstracts, n.number[abstract])
		}
		for _, parent := range ancestry.Declared(name) {
			step := nestedParent{object: n.number[parent.Object], field: -1, lists: lists(parent.Definition.Type)}
			if at, ok := index[parent.Coordinate()]; ok {
				if step.attempts = c.attempts(c.fields[at]); step.attempts != 1 {
					step.field = at
				}
			}
			n.types[i].parents = append(n.types[i].parents, step)
		}
	}
	n.climbed, n.noted = make([][2]int, len(names)), make([]int, len(c.fields))
	return n
}

// lists counts the lists of a type.
func lists(t *ast.Type) (depth int) {
	for ; t.Elem != nil; t = t.Elem {
		depth++
	}
	return depth
}

// above returns the nearest fields with retries above f, in order. Where batched, one call of f
// answers for the whole list that it is right under.
func (n *nesting) above(f schema.Field, batched bool) []retried {
	key := nestedKey{f.Object, batched, f.Idempotent}
	if known, ok := n.found[key]; ok {
		return known
	}
	n.climbs++
	var found []retried
	positions := map[int]int{}
	note := func(parent nestedParent, listed bool) {
		if !n.reach.inQueries(n.fields[parent.field].Object) && !f.Idempotent {
			return // f has no retries then
		}
		if n.noted[parent.field] != n.climbs {
			n.noted[parent.field] = n.climbs
			positions[parent.field] = len(found)
			found = append(found, retried{field: parent.field, attempts: parent.attempts})
		}
		at := positions[parent.field]
		found[at].listed = found[at].listed || listed
	}
	start := n.number[f.Object]
	var climb func(at, listed int)
	follow := func(at, listed, uncounted int) {
		for _, parent := range n.types[at].parents {
			now := listed
			if parent.lists > uncounted {
				now = 1
			}
			if parent.field >= 0 {
				note(parent, now == 1)
			} else {
				climb(parent.object, now)
			}
		}
	}
	climb = func(at, listed int) {
		if at == start || n.climbed[at][listed] == n.climbs { // not once around a circle of types
			return
		}
		n.climbed[at][listed] = n.climbs
		follow(at, listed, 0)
		for _, abstract := range n.types[at].abstracts {
			climb(abstract, listed)
		}
	}
	uncounted := 0
	if batched {
		uncounted = 1
	}
	for _, at := range append([]int{start}, n.types[start].abstracts...) {
		follow(at, 0, uncounted)
	}
	slices.SortFunc(found, func(a, b retried) int { return a.field - b.field })
	n.found[key] = found
	return found
}
