package dashboard

import (
	"math"
	"math/bits"
	"time"
)

// Durations are counted in bins that are 64 µs wide up to half a millisecond and then, eight for each
// doubling, up to half an hour: a percentile is off by 6 % at most.
const (
	binUnit   = 64 * time.Microsecond
	perOctave = 8
	octaves   = 22
	bins      = perOctave * (octaves + 1)
)

// durations are those of some calls. The zero value has none.
type durations struct {
	counts  [bins]uint32
	longest time.Duration
}

func (d *durations) add(took time.Duration) {
	d.counts[binOf(took)]++
	d.longest = max(d.longest, took)
}

func (d *durations) addAll(other *durations) {
	for i, n := range other.counts {
		d.counts[i] += n
	}
	d.longest = max(d.longest, other.longest)
}

// percentile returns the duration that share of the calls took no longer than. It reports false without calls.
// The rank is the nearest, as in Hyndman and Fan, Sample Quantiles in Statistical Packages (1996), definition 1.
func (d *durations) percentile(share float64) (time.Duration, bool) {
	calls := uint64(0)
	for _, n := range d.counts {
		calls += uint64(n)
	}
	if calls == 0 {
		return 0, false
	}
	rank, below := uint64(math.Ceil(share*float64(calls))), uint64(0)
	for i, n := range d.counts {
		if below += uint64(n); below >= rank {
			return min((lowest(i)+lowest(i+1))/2, d.longest), true
		}
	}
	return d.longest, true
}

func binOf(took time.Duration) int {
	v := uint64(max(0, took) / binUnit)
	if v < perOctave {
		return int(v)
	}
	octave := bits.Len64(v / perOctave) // from 1
	return min(octave*perOctave+int(v>>(octave-1))%perOctave, bins-1)
}

// lowest is the shortest duration of a bin.
func lowest(bin int) time.Duration {
	octave, place := bin/perOctave, bin%perOctave
	if octave == 0 {
		return time.Duration(place) * binUnit
	}
	return time.Duration(perOctave+place) << (octave - 1) * binUnit
}
