package otelresilience

import (
	"strings"
	"sync"
)

// names tells the first so many names apart.
type names struct {
	limit int

	mu    sync.Mutex
	known map[string]bool // guarded by mu
}

func newNames(limit int) *names { return &names{limit: limit, known: map[string]bool{}} }

// label is what a name is called in an attribute.
func (n *names) label(name string) string {
	name = printable(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.known[name]:
	case len(n.known) == n.limit:
		return other
	default:
		n.known[strings.Clone(name)] = true // which may be the start of a long one
	}
	return name
}
