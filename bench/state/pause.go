package state

import (
	"errors"

	"github.com/overtake-stream/overtake/statecow"
)

// pause takes Count snapshots with Window updates between them and times each, and how long the
// thread had the processor meanwhile; the last Keep of them stay open. A negative Keep takes none, to show what else there is in the
// figures.
func (s *server) pause(q request) (reply, error) {
	d, keys := s.draw(q.Seed), make([]uint64, q.Window)
	t, own, open := &tally{}, &tally{}, make([]func(), 0, max(0, q.Keep)+1)
	take := s.store.snapshot
	if c, ok := s.store.(cow); ok && q.Confirm {
		take = func() func() { return confirm(c.state()) }
	}
	if q.Keep < 0 {
		take = func() func() { return nil }
	}
	for range q.Count {
		d.fill(keys)
		if err := s.store.update(keys); err != nil {
			return reply{}, err
		}
		used, start := s.busy.Now(), s.clock.Now()
		held := take()
		took := s.clock.Now() - start
		t.add(took)
		own.add(min(took, s.busy.Now()-used))
		if q.Keep < 0 {
			continue
		}
		if open = append(open, held); len(open) > q.Keep {
			open[0]()
			open = append(open[:0], open[1:]...)
		}
	}
	for _, release := range open {
		release()
	}
	return reply{Counts: t.counts(), Own: own.counts()}, s.maintain()
}

// confirm takes a snapshot that becomes the base of increments when it is released, as
// a checkpoint that completed.
func confirm(m *statecow.Map) func() {
	s, _ := m.Snapshot() // never fails
	return func() {
		s.Release()
		m.Confirm(s.Mark())
	}
}

// after is the rate of the updates that directly follow a snapshot, which is open. With
// Ahead, the store knows the next keys.
func (s *server) after(q request) (reply, error) {
	update := s.store.update
	if c, ok := s.store.(cow); ok && q.Ahead {
		update = c.prefetched
	}
	held := s.store.snapshot()
	r, err := s.update(q, update)
	held()
	return r, errors.Join(err, s.maintain())
}

// settle brings a statecow map back to where it was before its first snapshot: no
// maintenance is left, and every entry may be changed in place. Others need nothing.
func (s *server) settle() error {
	c, ok := s.store.(cow)
	if !ok {
		return nil
	}
	if err := s.maintain(); err != nil {
		return err
	}
	keys := make([]uint64, block)
	for i := int64(0); i < s.spec.N; i += block {
		keys = keys[:min(block, s.spec.N-i)]
		for j := range keys {
			keys[j] = mix(uint64(i) + uint64(j))
		}
		if err := c.prefetched(keys); err != nil { // faster where all are frozen
			return err
		}
	}
	return s.maintain()
}

// maintain does what a statecow map has put off.
func (s *server) maintain() error {
	c, ok := s.store.(cow)
	for more := ok; more; {
		var err error
		if more, err = c.state().Maintain(1000); err != nil {
			return err
		}
	}
	return nil
}
