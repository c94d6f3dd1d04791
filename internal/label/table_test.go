package label

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func newPairs(limit int) *Table[string] {
	return NewTable(limit, func(policy, field string) string { return policy + "/" + field })
}

func TestTheFirstPairsAreToldApart(t *testing.T) {
	pairs := newPairs(2)
	for range 2 { // the second time likewise
		assert.Equal(t, "carrier/a", pairs.Of("carrier", "a"))
		assert.Equal(t, "carrier/b", pairs.Of("carrier", "b"))
		assert.Equal(t, "carrier/_OTHER", pairs.Of("carrier", "c"), "a further field of a known policy")
		assert.Equal(t, "carrier/_OTHER", pairs.Of("carrier", "d"))
		assert.Equal(t, "_OTHER/_OTHER", pairs.Of("export", "a"), "a further policy")
		assert.Equal(t, "_OTHER/_OTHER", pairs.Of("sms", "b"))
	}
	assert.ElementsMatch(t, []string{"carrier/a", "carrier/b", "carrier/_OTHER", "_OTHER/_OTHER"}, pairs.All())
}

func TestEachPairHasOneValueWhoeverAsksFirst(t *testing.T) {
	counts := NewTable(50, func(string, string) *int { return new(int) })
	var all sync.WaitGroup
	got := make([][100]*int, 8)
	for i := range got {
		all.Go(func() {
			for n := range 100 {
				got[i][n] = counts.Of("carrier", fmt.Sprint(n))
			}
		})
	}
	all.Wait()
	assert.Len(t, counts.All(), 51)
	for i := range got {
		for n := range 100 {
			assert.Same(t, counts.Of("carrier", fmt.Sprint(n)), got[i][n])
		}
	}
}
