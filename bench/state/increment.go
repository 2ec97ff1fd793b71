package state

import (
	"github.com/overtake-stream/overtake/statecow"
)

// increment writes what changed since a base: after one in Count keys changed, and
// after none. The value is the first size in bytes for a byte of changed entries.
func (s *server) increment(q request, c cow) (reply, error) {
	m := c.state()
	base, err := m.Snapshot()
	if err != nil {
		return reply{}, err
	}
	base.Release()
	m.Confirm(base.Mark())
	d := draw(q.Seed, s.spec.N)
	var keys []uint64
	for i := range uint64(s.spec.N) {
		if d.rng.Uint64N(uint64(q.Count)) == 0 {
			keys = append(keys, mix(i))
		}
	}
	d.rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	if err := c.update(keys); err != nil {
		return reply{}, err
	}
	some, err := since(m, base.Mark())
	if err != nil {
		return reply{}, err
	}
	none, err := since(m, some.mark)
	size := float64(max(1, len(keys))) * float64(s.spec.Layout.entry())
	return reply{Value: float64(some.Bytes) / size, More: map[string]float64{
		"changed": float64(len(keys)), "bytes": float64(some.Bytes), "entries": float64(some.Entries), "none": float64(none.Bytes),
	}}, err
}

type written struct {
	statecow.WriteStats
	mark statecow.Mark
}

// since writes an increment and makes it the next base.
func since(m *statecow.Map, base statecow.Mark) (w written, err error) {
	snap, err := m.Snapshot()
	if err != nil {
		return w, err
	}
	w.mark = snap.Mark()
	w.WriteStats, err = snap.Write(&sink{}, base)
	snap.Release()
	m.Confirm(w.mark)
	return w, err
}
