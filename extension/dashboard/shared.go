package dashboard

import (
	"sync"
	"time"
)

// shared makes something at most once in a while for all who ask, and not at all while nobody does.
type shared struct {
	every time.Duration
	make  func(now time.Time) []byte
	start time.Time

	mu    sync.Mutex
	value []byte // not to be changed; guarded by mu
	turn  int64  // in which value was made, from 1; guarded by mu
}

func newShared(every time.Duration, make func(now time.Time) []byte) *shared {
	return &shared{every: every, make: make, start: time.Now()}
}

// get returns the value of the present turn.
func (s *shared) get() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if turn := s.turnOf(now); turn != s.turn {
		s.value, s.turn = s.make(now), turn
	}
	return s.value
}

// next returns how long it is until the next turn.
func (s *shared) next() time.Duration {
	now := time.Now()
	return s.start.Add(time.Duration(s.turnOf(now)) * s.every).Sub(now)
}

func (s *shared) turnOf(now time.Time) int64 { return 1 + int64(now.Sub(s.start)/s.every) }
