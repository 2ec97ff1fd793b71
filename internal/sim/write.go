package sim

import (
	"iter"
	"slices"
	"time"
)

// write is the asynchronous part of a checkpoint in one subtask, a coroutine that stops
// before each operation of the store.
type write struct {
	at     time.Duration // when it goes on
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
}

// deferred takes a write. It is Checkpoints.Defer.
func (s *sub) deferred(f func()) {
	w := &write{at: s.a.w.now + s.a.w.upTo(s.a.w.plan.slow)}
	w.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		w.yield = yield
		f()
	})
	s.writes = append(s.writes, w)
}

// progress lets a write go on to its next operation.
func (s *sub) progress(w *write) {
	before := s.a.w.writing
	s.a.w.writing = w
	_, more := w.resume()
	s.a.w.writing = before
	w.at = s.a.w.now + s.a.w.upTo(s.a.w.plan.slow)
	if !more {
		s.writes = slices.DeleteFunc(s.writes, func(o *write) bool { return o == w })
	}
}

// write lets all writes go on to their ends.
func (s *sub) write() {
	for len(s.writes) > 0 {
		s.progress(s.writes[0])
	}
}
