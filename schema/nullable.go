package schema

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// nullable returns what a failure within each type takes along. Types that lead to each other by
// non-null fields alone have that in common, so it is found out once for each such circle
// (Tarjan's strongly connected components, which come up with all that is above them known).
func nullable(a *Ancestry) map[string][]Ancestor {
	c := circles{Ancestry: a, index: map[string]int{}, lowest: map[string]int{}, open: map[string]bool{}, found: map[string][]Ancestor{}}
	for name, definition := range a.schema.Types {
		if definition.Kind == ast.Object && !isIntrospection(name) && c.index[name] == 0 {
			c.visit(name)
		}
	}
	return c.found
}

// circles is the state of one [nullable].
type circles struct {
	*Ancestry
	index, lowest map[string]int // from 1
	stack         []string
	open          map[string]bool // those on the stack
	found         map[string][]Ancestor
}

// above calls visit for each type that a failure within the named one goes up to, and absorbed for
// each value on its way that stops it.
func (c *circles) above(name string, visit func(string), absorbed func(Ancestor)) {
	for _, abstract := range c.abstracts[name] {
		visit(abstract)
	}
	for _, parent := range c.parents[name] {
		if nullable, item := takenAlong(parent.Definition.Type, false); nullable {
			absorbed(Ancestor{parent.Coordinate(), item})
		} else {
			visit(parent.Object)
		}
	}
}

func (c *circles) visit(name string) {
	c.index[name] = len(c.index) + 1
	own := c.index[name]
	c.lowest[name] = own
	c.stack, c.open[name] = append(c.stack, name), true
	c.above(name, func(next string) {
		if c.index[next] == 0 {
			c.visit(next)
			c.lowest[name] = min(c.lowest[name], c.lowest[next])
		} else if c.open[next] {
			c.lowest[name] = min(c.lowest[name], c.index[next])
		}
	}, func(Ancestor) {})
	if c.lowest[name] == own {
		first := len(c.stack) - 1
		for c.stack[first] != name {
			first--
		}
		c.settle(c.stack[first:])
		c.stack = c.stack[:first]
	}
}

// settle notes what the types of a circle take along.
func (c *circles) settle(circle []string) {
	own := map[Ancestor]bool{}
	lists := map[*Ancestor][]Ancestor{} // of the types above, by their first
	for _, name := range circle {
		c.open[name] = false
		if c.isRoot(name) {
			own[Ancestor{}] = true
		}
		c.above(name, func(next string) {
			if all := c.found[next]; len(all) > 0 {
				lists[&all[0]] = all
			}
		}, func(by Ancestor) { own[by] = true })
	}
	result := united(own, slices.Collect(maps.Values(lists)))
	for _, name := range circle {
		c.found[name] = result
	}
}

// united returns them all, sorted and none twice. Lists are not copied without need: there may be
// thousands of types with a long one in common.
func united(own map[Ancestor]bool, lists [][]Ancestor) []Ancestor {
	if len(own) == 0 && len(lists) == 1 {
		return lists[0]
	}
	for _, list := range lists {
		for _, each := range list {
			own[each] = true
		}
	}
	return slices.SortedFunc(maps.Keys(own), func(a, b Ancestor) int {
		return cmp.Compare(a.Coordinate, b.Coordinate)
	})
}

// takenAlong reports whether something in a value of the type can be null, from the inside out, and
// whether that is the item of a list.
func takenAlong(t *ast.Type, isItem bool) (nullable, item bool) {
	if t.Elem != nil {
		if nullable, item := takenAlong(t.Elem, true); nullable {
			return true, item
		}
	}
	return !t.NonNull, isItem
}
