package dashboard

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func columnsOf(r *ring[int], now period) map[int]int {
	all := map[int]int{}
	r.each(now, func(column int, n *int) { all[column] = *n })
	return all
}

func TestARingForgetsWhatIsTooOld(t *testing.T) {
	var r ring[int]
	assert.Empty(t, columnsOf(&r, 1))
	*r.at(1)++
	*r.at(2) += 2
	assert.Equal(t, map[int]int{58: 1, 59: 2}, columnsOf(&r, 2))
	assert.Equal(t, map[int]int{0: 2}, columnsOf(&r, 61))
	*r.at(61) += 3 // in the place of the first
	*r.at(1) += 100
	assert.Equal(t, map[int]int{0: 2, 59: 3}, columnsOf(&r, 61), "what comes late is not taken for what is new")
	assert.Empty(t, columnsOf(&r, 1000))
}
