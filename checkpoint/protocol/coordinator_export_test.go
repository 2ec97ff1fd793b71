package protocol

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Clone is an independent copy, for searches that branch.
func (c *Coordinator) Clone() *Coordinator {
	d := *c
	d.finished = c.finished.clone()
	d.flights = make([]*flight, len(c.flights))
	for i, f := range c.flights {
		g := *f
		g.acked, g.direct = f.acked.clone(), f.direct.clone()
		g.payloads, g.tokens = slices.Clone(f.payloads), slices.Clone(f.tokens)
		d.flights[i] = &g
		if f == c.publishing {
			d.publishing = &g
		}
	}
	d.retained, d.waiting = slices.Clone(c.retained), slices.Clone(c.waiting)
	d.history.records = slices.Clone(c.history.records)
	return &d
}

func (s memberSet) clone() memberSet {
	s.words = slices.Clone(s.words)
	return s
}

// Fingerprint appends what tells apart states that can behave differently.
func (c *Coordinator) Fingerprint(b []byte) []byte {
	put := func(n uint64) { b = binary.AppendUvarint(b, n) }
	flags := uint64(len(c.flights)) << 2
	if c.over {
		flags |= 1
	}
	put(flags)
	for _, n := range []int64{c.now, int64(c.ending), int64(c.last), int64(c.failures), int64(c.lastToken), c.due, c.pause, c.retry, c.armed} {
		b = binary.AppendVarint(b, n)
	}
	b = append(append(b, fmt.Sprint(c.retained)...), fmt.Sprint(c.waiting)...)
	put(c.finished.words[0])
	for _, f := range c.flights {
		put(uint64(f.id())<<1 | b2u(f == c.publishing))
		put(uint64(f.deadline))
		put(f.acked.words[0])
		put(f.direct.words[0])
		put(uint64(f.kind))
		for _, t := range f.tokens {
			put(uint64(t))
		}
	}
	for _, r := range c.history.records {
		put(uint64(r.ID)<<1 | b2u(r.doubt))
		put(uint64(r.Reason.Cause)<<8 | uint64(r.Acks))
	}
	return b
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
