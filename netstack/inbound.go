package netstack

import (
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/overtake-stream/overtake/perf/probe"
)

const (
	// maxPieces is how many segments one read may fill: 1 MiB of 32 KiB ones.
	maxPieces = 32
	// handOver, in bytes: a frame of at least this size that owns its
	// segment is handed over in it; copying a smaller one is cheaper than losing
	// a segment that is in the cache.
	handOver = 2 << 10
)

// inbound is the receiving half of a connection. It reads ahead into whole
// segments ("pieces"):
//
//	read into   [rest of the frame in progress][piece 0][piece 1] … [piece K-1]
//
// The peer's frames are one segment each while it is loaded, so what follows the
// frame in progress is aligned: each piece fills with one header, in its
// headroom, and one payload. Such a piece is handed over as it is, swapped for
// one of the channel's parked buffers. A frame that starts elsewhere in a piece
// is copied into a parked buffer, and what is missing of it is read straight into
// that buffer, which aligns the stream again.
//
// K doubles while reads fill everything and falls while they use little.
type inbound struct {
	// constant
	conn *conn
	pool *bufferpool.Pool // the connection's own, for pieces

	pieces  []bufferpool.Buffer // those offered to the next read
	want    int                 // K
	carried int                 // bytes of a header that begin the first piece
	cur     frame               // in progress, if active
	stash   [frameHeaderSize]byte
	stashed int   // bytes in stash: a header that was cut by the end of a piece
	readAt  int64 // when the last read returned, while a profiler looks, ns
}

// frame is a frame being received: its payload goes to a buffer or, for events
// and control messages, to memory of its own.
type frame struct {
	head    header
	active  bool
	channel *remoteIn
	buf     bufferpool.Buffer // data
	mem     []byte            // event, control, answer
	size    int               // bytes that follow the header
	got     int               // of these, received
}

// target is the memory for all that follows the header.
func (f *frame) target() []byte {
	switch {
	case f.head.kind != frameData:
		return f.mem
	case f.head.flags&flagPadded != 0:
		return f.buf.Space()
	}
	return f.buf.Space()[:f.head.length]
}

func (f *frame) payload() []byte { return f.target()[:f.head.length] }

func (r *inbound) payloadSize() int { return r.conn.stack.opts.Arena.PayloadSize() }

// vectors appends the memory to read into, at most limit slices; it lends them
// until advance.
func (r *inbound) vectors(dst [][]byte, limit int) [][]byte {
	if r.cur.active {
		dst = append(dst, r.cur.target()[r.cur.got:])
		limit--
	}
	r.gather(min(max(r.want, 1), limit, maxPieces))
	if invariant.Enabled {
		invariant.Check(limit <= 0 || len(r.pieces) > 0, "worker %d: no piece to read into", r.conn.peer)
	}
	for i, p := range r.pieces {
		if i == limit {
			break
		}
		seg := p.Segment()
		if i == 0 {
			seg = seg[r.carried:]
		}
		dst = append(dst, seg)
	}
	return dst
}

// gather gets pieces, or gives some back, until there are n. The pool always has
// one; it may lack more.
func (r *inbound) gather(n int) {
	for len(r.pieces) < n {
		p, ok := r.pool.Get()
		if !ok {
			return
		}
		r.pieces = append(r.pieces, p)
	}
	for len(r.pieces) > n {
		last := len(r.pieces) - 1
		r.pool.Recycle(r.pieces[last])
		r.pieces = r.pieces[:last]
	}
}

// advance takes n bytes that were read into what vectors returned. After an error
// the connection is beyond repair.
func (r *inbound) advance(n int) error {
	r.conn.stack.turn.over()
	r.readAt = 0
	if probe.Attached() {
		r.readAt = probe.Now()
	}
	r.adapt(n)
	if r.cur.active {
		m := min(n, r.cur.size-r.cur.got)
		r.cur.got += m
		n -= m
		if err := r.complete(); err != nil {
			return err
		}
	}
	segment := r.conn.stack.opts.Arena.SegmentSize()
	for i := 0; n > 0; i++ {
		end := min(r.carried+n, segment)
		n -= end - r.carried
		r.carried = 0
		if err := r.parse(i, end); err != nil {
			return err
		}
	}
	if r.stashed > 0 { // go on in the first piece, behind what is known
		r.carried = copy(r.pieces[0].Segment(), r.stash[:r.stashed])
		r.stashed = 0
	}
	return nil
}

// adapt sets the number of pieces for the next read.
func (r *inbound) adapt(n int) {
	room := len(r.pieces) * r.conn.stack.opts.Arena.SegmentSize()
	switch {
	case n >= room-r.carried:
		r.want = min(2*max(r.want, 1), maxPieces)
	case n < room/4:
		r.want = max(1, r.want/2)
	}
}

// parse takes the bytes of piece i up to end.
func (r *inbound) parse(i, end int) error {
	b := r.pieces[i].Segment()[:end]
	for aligned := r.stashed == 0 && !r.cur.active; len(b) > 0; aligned = false {
		if r.cur.active {
			n := copy(r.cur.target()[r.cur.got:], b)
			r.cur.got, b = r.cur.got+n, b[n:]
			if err := r.complete(); err != nil {
				return err
			}
			continue
		}
		if r.stashed > 0 || len(b) < frameHeaderSize {
			n := copy(r.stash[r.stashed:], b)
			r.stashed, b = r.stashed+n, b[n:]
			if r.stashed < frameHeaderSize {
				return nil
			}
			r.stashed = 0
			if err := r.begin(r.stash[:]); err != nil {
				return err
			}
			continue
		}
		if err := r.begin(b); err != nil {
			return err
		}
		b = b[frameHeaderSize:]
		if aligned && r.cur.active && r.takesPiece(len(b)) {
			return r.take(i, len(b))
		}
	}
	return nil
}

// begin starts a frame; one without payload is complete at once.
func (r *inbound) begin(head []byte) error {
	r.cur.got = 0
	if err := r.cur.head.parse(head); err != nil {
		return err
	}
	if err := r.conn.begin(&r.cur.head); err != nil {
		return err
	}
	f := &r.cur
	switch f.head.kind {
	case frameData:
		f.channel = r.conn.ins[f.head.channel]
		f.buf = f.channel.unpark()
	case frameEvent:
		f.channel = r.conn.ins[f.head.channel]
		f.mem = make([]byte, f.head.length)
	case frameControl, frameAnswer:
		f.mem = make([]byte, f.head.length)
	default:
		return nil
	}
	f.active, f.size = true, len(f.target())
	return r.complete()
}

// takesPiece reports whether the frame in progress, whose header opens a piece
// with avail more bytes in it, should be handed over in that piece: when nothing
// else is in it that would have to be copied instead.
func (r *inbound) takesPiece(avail int) bool {
	f := &r.cur
	return f.head.kind == frameData && f.size >= avail && f.size >= handOver
}

// take makes piece i the buffer of the frame in progress, and the buffer that was
// meant for it a piece: pool by pool nothing changes.
func (r *inbound) take(i, avail int) error {
	bufferpool.Swap(r.pieces[i], r.cur.buf)
	r.pieces[i], r.cur.buf = r.cur.buf, r.pieces[i]
	r.cur.got = avail
	r.conn.stack.stats.handedOver.Add(1)
	return r.complete()
}

// complete hands the frame in progress on if all of it is there.
func (r *inbound) complete() error {
	if r.cur.got < r.cur.size {
		return nil
	}
	f := r.cur
	r.cur = frame{}
	err := r.conn.finish(&f)
	if err != nil {
		f.drop()
	}
	return err
}

// drop gives the frame's buffer back, if it has one.
func (f *frame) drop() {
	if !f.buf.IsZero() {
		f.buf.Release()
	}
}

func (r *inbound) release() {
	for _, p := range r.pieces {
		p.Release()
	}
	r.cur.drop()
	r.pieces, r.cur, r.stashed, r.carried = nil, frame{}, 0, 0
}
