package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// perRound is how long one side is measured in each round, roughly.
const perRound = 30 * time.Millisecond

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
	for round := range rounds {
		for turn := range sides {
			if err := sides[(turn+round)%len(sides)].measure(); err != nil {
				return nil, err
			}
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
		found = append(found, measurement{ours: ours.median(), rivals: rival.median(), ratio: median(ratios)})
	}
	return found, nil
}

// side is one of those that a case measures.
type side struct {
	loop    loop
	n       int // calls per round
	samples []sample
}

// warmUp finds out how many calls fill a round.
func warmUp(l loop) (*side, error) {
	if l.held != nil {
		return &side{loop: l}, nil
	}
	for n := 1; ; n *= 2 {
		start := time.Now()
		if err := l.calls(n); err != nil {
			return nil, err
		}
		if took := time.Since(start); took > perRound/4 {
			return &side{loop: l, n: max(1, int(float64(n)*float64(perRound)/float64(took)))}, nil
		}
	}
}

func (s *side) measure() error {
	if s.loop.held != nil {
		held, err := s.loop.held()
		s.samples = append(s.samples, sample{bytes: held})
		return err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := s.loop.calls(s.n)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if err != nil {
		return fmt.Errorf("after the warm-up: %w", err)
	}
	of := float64(s.n * max(1, s.loop.fields))
	s.samples = append(s.samples, sample{
		ns:     float64(took.Nanoseconds()) / of,
		allocs: float64(after.Mallocs-before.Mallocs) / of,
		bytes:  float64(after.TotalAlloc-before.TotalAlloc) / of,
	})
	return nil
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
