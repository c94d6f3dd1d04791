package main

import "slices"

// A benchCase measures this library, and beside it what else does the same.
type benchCase struct {
	name   string
	ours   setUp
	rivals []rival

	// Bounds on ours alone; 0: none.
	mostNs, mostAllocs, mostBytes float64

	// mostBefore bounds what each ratio to a rival is, by what it was before. 0: no bound.
	mostBefore float64

	rounds int // at most; 0: as many as are asked for
}

// A rival is another way of doing what a case does.
type rival struct {
	name  string
	setUp setUp

	mostRatio float64 // bound on our time by the rival's; 0: none
	noAllocs  bool    // bound: we make no allocation more
}

// A setUp makes what is measured ready. What undoes that it gives to the stand.
type setUp func(*stand) (loop, error)

// A loop is what is measured.
type loop struct {
	// calls makes n calls. It fails if one of them did not come out as the case says.
	calls func(n int) error

	// fields are those that one call resolves, if figures are to be per field. 0: per call.
	fields int

	// held measures the bytes that a call holds, in place of calls.
	held func() (bytes float64, err error)
}

// repeat makes calls one after the other.
func repeat(call func() error) loop {
	return loop{calls: func(n int) error {
		for range n {
			if err := call(); err != nil {
				return err
			}
		}
		return nil
	}}
}

// stand undoes what setting a case up has done.
type stand struct{ undo []func() error }

func (s *stand) cleanup(undo func() error) { s.undo = append(s.undo, undo) }

// close undoes everything, the last first, and returns the first error.
func (s *stand) close() (first error) {
	for len(s.undo) > 0 {
		last := len(s.undo) - 1
		if err := s.undo[last](); err != nil && first == nil {
			first = err
		}
		s.undo = s.undo[:last]
	}
	return first
}

// setUps are that of the case itself, and those of its rivals.
func (c benchCase) setUps() []setUp {
	all := []setUp{c.ours}
	for _, r := range c.rivals {
		all = append(all, r.setUp)
	}
	return all
}

// allCases are in the order of the table.
func allCases() []benchCase {
	return slices.Concat(
		unguardedCases(),
		interceptCases(),
		fieldCases(),
		rejectionCases(),
		policyCases(),
		queryCases(),
		growthCases(),
		parallelCases(),
		presetCases(),
		memoryCases(),
	)
}
