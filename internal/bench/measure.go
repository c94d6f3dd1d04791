package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// A round has as many passes as there are sides, each begun by another side. In a pass each side is
// measured for perPass, roughly, by turns and in slices.
const (
	perPass = 20 * time.Millisecond
	slicing = 4
)

// sample is what one side came to in one round, per call or field. Where ns is 0, it is about what
// a call holds, and not about what it allocates.
type sample struct{ ns, allocs, bytes float64 }

// by is the ratio of what the samples are about.
func (s sample) by(other sample) float64 {
	if s.ns == 0 {
		return s.bytes / other.bytes
	}
	return s.ns / other.ns
}

// A measurement is what a case came to, against one of its rivals or none.
type measurement struct {
	ours, rivals sample
	ratio        float64 // of the times, or of what is held; the median of the rounds' own
	low, high    float64 // half of the rounds' ratios are between these
}

// measure measures the case and its rivals by turns, so that noise hits all of them, and returns a
// measurement per rival, or one if there are none.
func measure(c benchCase, rounds int) (_ []measurement, err error) {
	var t stand
	defer func() {
		if failed := t.close(); err == nil {
			err = failed
		}
	}()
	sides := make([]*side, 0, 1+len(c.rivals))
	for _, set := range c.setUps() {
		l, err := set(&t)
		if err != nil {
			return nil, err
		}
		s, err := warmUp(l)
		if err != nil {
			return nil, err
		}
		sides = append(sides, s)
	}
	if c.rounds > 0 {
		rounds = min(rounds, c.rounds)
	}
	for range rounds {
		if err := measureRound(sides); err != nil {
			return nil, err
		}
	}
	ours := sides[0]
	if len(sides) == 1 {
		return []measurement{{ours: ours.median()}}, nil
	}
	var found []measurement
	for _, rival := range sides[1:] {
		ratios := make([]float64, rounds)
		for i := range ratios {
			ratios[i] = ours.samples[i].by(rival.samples[i])
		}
		found = append(found, measurement{
			ours: ours.median(), rivals: rival.median(),
			ratio: median(ratios), low: ratios[rounds/4], high: ratios[rounds-1-rounds/4],
		})
	}
	return found, nil
}

// measureRound adds a sample to each side. Collecting garbage is part of the time. It strikes when so
// much has been allocated, and so always in the same place of a pass: hence one that each side begins.
func measureRound(sides []*side) error {
	for _, s := range sides {
		s.samples = append(s.samples, sample{})
	}
	passes, turns := len(sides), slicing
	if sides[0].loop.held != nil {
		passes, turns = 1, 1
	}
	for _, s := range sides { // whole queries may take longer than their slices
		turns = max(1, min(turns, int(perPass/max(1, s.takes))))
	}
	for first := range passes {
		runtime.GC()
		for range turns {
			for turn := range sides {
				if err := sides[(first+turn)%len(sides)].measure(); err != nil {
					return err
				}
			}
		}
	}
	for _, s := range sides {
		s.end()
	}
	return nil
}

// side is one of those that a case measures.
type side struct {
	loop    loop
	calls   int           // in a slice
	takes   time.Duration // a slice, roughly
	done    int           // of the calls, in this round
	samples []sample
}

// warmUp finds out how many calls fill a slice.
func warmUp(l loop) (*side, error) {
	if l.held != nil {
		return &side{loop: l, calls: 1}, nil
	}
	const perSlice = perPass / slicing
	for n := 1; ; n *= 2 {
		start := time.Now()
		if err := l.calls(n); err != nil {
			return nil, err
		}
		if took := time.Since(start); took > perSlice {
			calls := max(1, int(float64(n)*float64(perSlice)/float64(took)))
			return &side{loop: l, calls: calls, takes: took / time.Duration(n) * time.Duration(calls)}, nil
		}
	}
}

// measure adds a slice to the last sample.
func (s *side) measure() error {
	s.done += s.calls
	last := &s.samples[len(s.samples)-1]
	if s.loop.held != nil {
		held, err := s.loop.held()
		last.bytes += held
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := s.loop.calls(s.calls)
	last.ns += float64(time.Since(start).Nanoseconds())
	runtime.ReadMemStats(&after)
	last.allocs += float64(after.Mallocs - before.Mallocs)
	last.bytes += float64(after.TotalAlloc - before.TotalAlloc)
	if err != nil {
		return fmt.Errorf("after the warm-up: %w", err)
	}
	return nil
}

// end makes the last sample one of a call or field.
func (s *side) end() {
	of := float64(s.done * max(1, s.loop.fields))
	last := &s.samples[len(s.samples)-1]
	last.ns, last.allocs, last.bytes = last.ns/of, last.allocs/of, last.bytes/of
	s.done = 0
}

func (s *side) median() sample {
	of := func(value func(sample) float64) float64 {
		values := make([]float64, len(s.samples))
		for i, one := range s.samples {
			values[i] = value(one)
		}
		return median(values)
	}
	return sample{
		ns:     of(func(one sample) float64 { return one.ns }),
		allocs: of(func(one sample) float64 { return one.allocs }),
		bytes:  of(func(one sample) float64 { return one.bytes }),
	}
}

// median sorts the values.
func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
