package dashboard

import "sync"

// rejections counts what a bulkhead or a limiter has not let pass lately. The zero value is ready.
type rejections struct {
	mu   sync.Mutex
	ring ring[int] // guarded by mu
}

func (r *rejections) add(p period) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.ring.at(p)++
}

func (r *rejections) count(now period) (sum int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring.each(now, func(_ int, n *int) { sum += *n })
	return sum
}
