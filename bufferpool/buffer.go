package bufferpool

import "github.com/overtake-stream/overtake/internal/invariant"

// Buffer is a handle of a counted buffer. Copying the handle does not count. The
// zero Buffer is none.
type Buffer struct {
	arena *Arena
	index uint32
	gen   uint32 // of the descriptor when it was handed out; checked with invariants
}

// IsZero reports whether b is none.
func (b Buffer) IsZero() bool { return b.arena == nil }

func (b Buffer) desc() *desc {
	d := &b.arena.descs[b.index]
	if invariant.Enabled {
		invariant.Check(d.gen == b.gen, "buffer %d is used after its release", b.index)
	}
	return d
}

// Segment lends the whole segment, headroom first.
func (b Buffer) Segment() []byte { b.desc(); return b.arena.segmentOf(b.index) }

// Space lends the whole payload area, whatever the length.
func (b Buffer) Space() []byte { return b.Segment()[Headroom:] }

// Payload lends the payload: the first Len bytes of Space.
func (b Buffer) Payload() []byte { return b.Segment()[Headroom : Headroom+b.Len()] }

// Frame lends headroom and payload, contiguous, for one write.
func (b Buffer) Frame() []byte { return b.Segment()[:Headroom+b.Len()] }

// Len is the length of the payload in bytes.
func (b Buffer) Len() int { return int(b.desc().length) }

// SetLen sets the length of the payload. Only a buffer's sole owner may.
func (b Buffer) SetLen(n int) {
	if invariant.Enabled {
		invariant.Check(n >= 0 && n <= b.arena.PayloadSize(), "length %d of a buffer of %d bytes", n, b.arena.PayloadSize())
	}
	b.desc().length = uint32(n)
}

// Retain shares the buffer: it needs one more Release.
func (b Buffer) Retain() Buffer {
	b.desc().refs.Add(1)
	return b
}

// Shared reports whether the buffer has more than one reference. False is certain,
// if the caller holds the only handle; true may be out of date.
func (b Buffer) Shared() bool { return b.desc().refs.Load() > 1 }

// Release drops one reference. The last gives the buffer back to its pool.
func (b Buffer) Release() {
	d := b.desc()
	// A sole owner need not count down: nobody else can share or release it.
	if d.refs.Load() != 1 {
		left := d.refs.Add(-1)
		if invariant.Enabled {
			invariant.Check(left >= 0, "buffer %d is released too often", b.index)
		}
		if left != 0 {
			return
		}
		d.refs.Store(1)
	}
	b.retire(d)
	d.state.Store(uint32(Idle)) // now the arena may be unmapped
	(*b.arena.pools.Load())[d.pool.Load()].put(b.index)
}

// retire ends the life of a handle. The caller says in the state that the segment is idle.
func (b Buffer) retire(d *desc) {
	if invariant.Enabled {
		d.gen++
		invariant.Poison(b.arena.segmentOf(b.index))
	}
}

// SetState tells the ledger what the buffer is being used for: any state but Idle.
func (b Buffer) SetState(s State) {
	if invariant.Enabled {
		invariant.Check(s > Idle && s < states, "buffer %d in use is said to be %v", b.index, s)
	}
	b.desc().note(s)
}

// Swap exchanges the pools of two buffers of one arena, both owned by the caller
// alone. So a buffer that data was read into can take the place of one that was set
// aside for it, without copying and with exact accounts.
func Swap(x, y Buffer) {
	if invariant.Enabled {
		invariant.Check(x.arena == y.arena && !x.Shared() && !y.Shared(), "swap of buffers %d and %d that are shared or of two arenas", x.index, y.index)
	}
	dx, dy := x.desc(), y.desc()
	px := dx.pool.Load()
	dx.pool.Store(dy.pool.Load())
	dy.pool.Store(px)
}
