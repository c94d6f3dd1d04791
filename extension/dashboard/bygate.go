package dashboard

import "sync"

// byGate has a V for each breaker, bulkhead or limiter of which something was told, whose zero value is ready. They
// are the program's, so that no caller makes them many; and one's history must not pass for that of another,
// which is why they don't share any. The zero value is ready. It is safe for concurrent use.
type byGate[V any] struct{ all sync.Map } // of *V, by name

// of is the gate's, which is made if there is none.
func (b *byGate[V]) of(name string) *V {
	v, ok := b.all.Load(name)
	if !ok {
		v, _ = b.all.LoadOrStore(name, new(V))
	}
	return v.(*V)
}

// look is the gate's, or an empty one: looking makes none.
func (b *byGate[V]) look(name string) *V {
	if v, ok := b.all.Load(name); ok {
		return v.(*V)
	}
	return new(V)
}
