package policy

import (
	"slices"
	"testing"
	"time"
)

// FuzzWindows compares the rings with a list that forgets nothing. Each byte is an outcome, its
// lowest bit, after a wait of the other bits.
func FuzzWindows(f *testing.F) {
	f.Add(uint8(3), uint16(100), []byte{1, 0, 1, 3, 200, 7, 255, 1})
	f.Add(uint8(1), uint16(0), []byte{1, 1, 0, 0})
	f.Add(uint8(20), uint16(9), []byte{20, 21, 18, 19, 20, 21, 20, 18, 3, 5, 40, 255, 255, 1})
	f.Fuzz(func(t *testing.T, size uint8, width uint16, input []byte) {
		start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		count := newTally(Window{Calls: int(size) + 1})
		// An uneven duration: the ring's buckets are a tenth of it, rounded down.
		step := time.Duration(width) + 1
		timed := newTally(Window{Duration: timeBuckets*step + time.Duration(size)%timeBuckets})

		now := start
		var all []outcomeAt
		for _, b := range input[:min(len(input), 500)] {
			now = now.Add(time.Duration(b>>1) * step / 4)
			compareWindows(t, all, now, count, timed, int(size)+1, step)
			failed := b&1 == 1
			count.record(now, failed)
			timed.record(now, failed)
			all = append(all, outcomeAt{now, failed})
			compareWindows(t, all, now, count, timed, int(size)+1, step)
		}
		mustBeCounts(t, timed, now.Add(timeBuckets*step), 0, 0)
	})
}

type outcomeAt struct {
	at     time.Time
	failed bool
}

func compareWindows(t *testing.T, all []outcomeAt, now time.Time, count, timed tally, size int, step time.Duration) {
	t.Helper()
	calls, failures := 0, 0
	for _, o := range all[max(0, len(all)-size):] {
		calls++
		if o.failed {
			failures++
		}
	}
	mustBeCounts(t, count, now, calls, failures)

	// The bucket of now and the nine before it, counted from the first outcome.
	calls, failures = 0, 0
	for _, o := range all {
		if bucketOf(now, all[0].at, step)-bucketOf(o.at, all[0].at, step) >= timeBuckets {
			continue
		}
		calls++
		if o.failed {
			failures++
		}
	}
	mustBeCounts(t, timed, now, calls, failures)
	for _, most := range []int{1, 3, timeBuckets, 1000} {
		mustBeParts(t, count, now, most, naiveParts(all[max(0, len(all)-size):], nil, most))
		var in []outcomeAt
		if calls > 0 {
			in = all
		}
		mustBeParts(t, timed, now, most, naiveParts(in, func(o outcomeAt) int {
			return timeBuckets - 1 - int(bucketOf(now, all[0].at, step)-bucketOf(o.at, all[0].at, step))
		}, most))
	}
}

// naiveParts puts each outcome into its place, in order or, of the tenths of a time window, by where it is,
// negative if it is too old, and joins the places.
func naiveParts(all []outcomeAt, where func(outcomeAt) int, most int) []WindowPart {
	places := len(all)
	if where != nil && len(all) > 0 {
		places = timeBuckets
	}
	parts := make([]WindowPart, min(places, most))
	for i, o := range all {
		if where != nil {
			i = where(o)
		}
		if i < 0 {
			continue
		}
		p := &parts[i*len(parts)/places]
		p.Calls++
		if o.failed {
			p.Failures++
		}
	}
	return parts
}

func mustBeParts(t *testing.T, w tally, now time.Time, most int, want []WindowPart) {
	t.Helper()
	if got := w.parts(now, most); !slices.Equal(got, want) {
		t.Fatalf("%T: want the parts %v, got %v", w, want, got)
	}
}

func bucketOf(at, first time.Time, step time.Duration) int64 { return int64(at.Sub(first) / step) }

func mustBeCounts(t *testing.T, w tally, now time.Time, calls, failures int) {
	t.Helper()
	gotCalls, gotFailures := w.count(now)
	if gotCalls != calls || gotFailures != failures {
		t.Fatalf("%T: want %d calls and %d failures, got %d and %d", w, calls, failures, gotCalls, gotFailures)
	}
}

// A call that ended while the clock was read elsewhere may be recorded with a time before that
// of the call recorded last.
func TestATimeWindowTakesOutcomesOutOfOrder(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	w := newTally(Window{Duration: 10 * time.Second})
	w.record(start.Add(time.Second), true)
	w.record(start, true) // before the very first
	w.record(start.Add(12*time.Second), false)
	w.record(start.Add(2*time.Second), true) // its bucket holds newer ones by now
	mustBeCounts(t, w, start.Add(12*time.Second), 2, 1)
	mustBeCounts(t, w, start, 4, 3)
}

func TestATimeWindowForgetsInStepsOfATenth(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	w := newTally(Window{Duration: 10 * time.Second})
	for i := range 10 {
		w.record(start.Add(time.Duration(i)*time.Second), i%2 == 0)
	}
	for after, want := range map[time.Duration]int{
		10*time.Second - 1: 10, 10 * time.Second: 9, 11*time.Second - 1: 9, 11 * time.Second: 8, 18 * time.Second: 1, 19 * time.Second: 0,
		1000 * time.Hour: 0,
	} {
		mustBeCounts(t, w, start.Add(after), want, want/2)
	}
}
