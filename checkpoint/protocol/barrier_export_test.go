package protocol

import "slices"

// MaxAborted bounds what is remembered of aborted checkpoints.
const MaxAborted = maxAborted

// Clone is an independent copy, for searches that branch.
func (m *Barriers) Clone() *Barriers {
	d := &Barriers{ended: slices.Clone(m.ended), last: slices.Clone(m.last), floor: m.floor, aborted: slices.Clone(m.aborted)}
	for _, r := range m.rounds {
		c := *r
		c.waiting, c.blocked = slices.Clone(r.waiting), slices.Clone(r.blocked)
		d.rounds = append(d.rounds, &c)
	}
	return d
}

// Remembered is how many aborted checkpoints are remembered.
func (m *Barriers) Remembered() int { return len(m.aborted) }

// Fingerprint appends what tells apart states that can behave differently.
func (m *Barriers) Fingerprint(b []byte) []byte {
	for ch, ended := range m.ended {
		b = append(b, byte(m.last[ch])<<1|byte(b2u(ended)))
	}
	b = append(b, byte(m.floor), byte(len(m.aborted)))
	for _, id := range m.aborted {
		b = append(b, byte(id))
	}
	for _, r := range m.rounds {
		b = append(b, byte(r.ID)<<2|byte(b2u(r.started))<<1|byte(b2u(r.unaligned)), byte(r.left))
		for ch := range r.waiting {
			b = append(b, byte(b2u(r.waiting[ch]))<<1|byte(b2u(slices.Contains(r.blocked, ch))))
		}
	}
	return b
}
