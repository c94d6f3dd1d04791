package dashboard_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestCallsGoOnWhileSomebodyLooks(t *testing.T) {
	registry := newRegistry(t, map[string]policy.Spec{"carrier": carrier, "other": carrier})
	d := newDashboard(t, registry)
	var all sync.WaitGroup
	for _, name := range []string{"carrier", "other"} {
		for range 4 {
			all.Go(func() {
				p := preset(t, registry, name)
				for range 200 {
					call(p, 1, succeed)
					call(p, 1, fail)
				}
			})
		}
	}
	for range 50 {
		d.Look()
	}
	all.Wait()
	var calls uint32
	for _, f := range d.Look().Fields {
		for _, n := range f.Got {
			calls += uint32(n)
		}
	}
	assert.Equal(t, uint32(2*4*400), calls, "none is lost")
}
