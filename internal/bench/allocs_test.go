//go:build !race

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The race detector allocates, too.
func TestAllocationsAreWithinTheirBounds(t *testing.T) {
	for _, c := range allCases() {
		if c.mostAllocs > 0 {
			t.Run(c.name, func(t *testing.T) {
				require.LessOrEqual(t, allocsOf(t, c.ours), c.mostAllocs)
			})
		}
		for _, r := range c.rivals {
			if r.noAllocs {
				t.Run(c.name+"/"+r.name, func(t *testing.T) {
					require.InDelta(t, allocsOf(t, r.setUp), allocsOf(t, c.ours), alike)
				})
			}
		}
	}
}

// allocsOf returns the allocations per call or field.
func allocsOf(t *testing.T, set setUp) float64 {
	t.Helper()
	var s stand
	l, err := set(&s)
	require.NoError(t, err)
	allocs := testing.AllocsPerRun(100, func() { err = l.calls(1) })
	require.NoError(t, err)
	require.NoError(t, s.close())
	return allocs / float64(max(1, l.fields))
}
