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

func newNesting(c *check) *nesting {
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
		for _, abstract := range c.ancestry.Abstracts(name) {
			n.types[i].abstracts = append(n.types[i].abstracts, n.number[abstract])
		}
		for _, parent := range c.ancestry.Declared(name) {
			step := nestedParent{object: n.number[parent.Object], field: -1, lists: lists(parent.Definition.Type)}
			if at, ok := index[parent.Coordinate()]; ok {
				if step.attempts = c.attempts(c.fields[at]); step.attempts != 1 {
					step.field = at
				}
			}
			n.types[i].parents = append(n.types[i].parents, step)
		}
	}
	n.climbed = make([][2]int, len(names))
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
	c := climb{nesting: n, start: n.number[f.Object], idempotent: f.Idempotent, positions: map[int]int{}}
	uncounted := 0
	if batched {
		uncounted = 1
	}
	for _, at := range append([]int{c.start}, n.types[c.start].abstracts...) {
		c.follow(at, 0, uncounted)
	}
	slices.SortFunc(c.found, func(a, b retried) int { return a.field - b.field })
	n.found[key] = c.found
	return c.found
}

// climb is one look at all ways up from a type. On each, listed is 1 from the first list on.
type climb struct {
	*nesting
	start      int  // the type
	idempotent bool // is the field that it is made for
	found      []retried
	positions  map[int]int // in found, by field
}

// follow goes on to what leads to the type, where so many lists do not count.
func (c *climb) follow(at, listed, uncounted int) {
	for _, parent := range c.types[at].parents {
		now := listed
		if parent.lists > uncounted {
			now = 1
		}
		if parent.field >= 0 {
			c.note(parent, now == 1)
		} else {
			c.visit(parent.object, now)
		}
	}
}

func (c *climb) visit(at, listed int) {
	if at == c.start || c.climbed[at][listed] == c.climbs { // not once around a circle of types
		return
	}
	c.climbed[at][listed] = c.climbs
	c.follow(at, listed, 0)
	for _, abstract := range c.types[at].abstracts {
		c.visit(abstract, listed)
	}
}

// note takes down a field with retries, with which its way ends.
func (c *climb) note(parent nestedParent, listed bool) {
	if !c.reach.inQueries(c.fields[parent.field].Object) && !c.idempotent {
		return // the lower field has no retries then
	}
	at, ok := c.positions[parent.field]
	if !ok {
		at = len(c.found)
		c.positions[parent.field] = at
		c.found = append(c.found, retried{field: parent.field, attempts: parent.attempts})
	}
	c.found[at].listed = c.found[at].listed || listed
}
