package dashboard

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPercentilesAreOffByNoMoreThanSaid(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var d durations
		all := make([]time.Duration, 1+random.IntN(1000))
		for i := range all {
			all[i] = time.Duration(math.Exp(random.Float64() * math.Log(float64(100*time.Second))))
			d.add(all[i])
		}
		slices.Sort(all)
		for _, share := range []float64{0.01, 0.5, 0.99, 1} {
			want := all[int(math.Ceil(share*float64(len(all))))-1]
			got, ok := d.percentile(share)
			require.True(t, ok)
			assert.InDelta(t, want, got, max(0.0626*float64(want), float64(binUnit/2)), "%v of %d", share, len(all))
			assert.LessOrEqual(t, got, all[len(all)-1])
		}
	}
}

func TestBinsFollowEachOtherWithoutGaps(t *testing.T) {
	for bin := range bins {
		assert.Equal(t, bin, binOf(lowest(bin)))
		assert.Equal(t, max(0, bin-1), binOf(lowest(bin)-1))
	}
	assert.Zero(t, binOf(-time.Hour), "a clock may be set back")
	assert.Equal(t, bins-1, binOf(math.MaxInt64))
	var none durations
	_, ok := none.percentile(0.5)
	assert.False(t, ok)
}
