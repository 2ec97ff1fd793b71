package netstack

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/overtake-stream/overtake/perf/probe"
)

// conn is the protocol of one connection, free of I/O: a driver asks it for
// memory to read into and tells what arrived, asks it for bytes to write and
// tells how many left. Its methods and those of what hangs on it (inbound,
// outbound, remoteIn, remoteOut, gateIn) run one at a time per Stack: on the
// loop's goroutine, or under the lock of the goroutine driver.
type conn struct {
	// constant
	stack *Stack
	peer  int
	addr  string
	epoch uint16
	ins   map[uint32]*remoteIn
	outs  map[uint32]*remoteOut
	ctl   controlQueue

	// constant once started, for profilers
	flow   uint64 // cookie of the socket
	opaque bool   // what is written is not what the socket is given
	clock  PeerClock

	// atomic
	name atomic.Uint64 // flow, once started, for everybody

	// protocol
	in      inbound
	out     outbound
	closing bool // a goodbye is due once everything queued has left
	left    bool // the peer's goodbye has come
	closed  bool // nothing happens any more
	failed  bool // the failure was reported
	kicked  bool // the driver has it in its list
}

func newConn(s *Stack, peer int) *conn {
	c := &conn{
		stack: s, peer: peer, addr: s.opts.Peers[peer], epoch: uint16(s.opts.Epoch),
		ins: map[uint32]*remoteIn{}, outs: map[uint32]*remoteOut{},
	}
	c.in.conn, c.out.conn = c, c
	return c
}

// open parks the buffers of all channels and so announces the first credit.
func (c *conn) open() {
	c.clock.asking = c.stack.opts.ClockInterval > 0
	c.out.slots = make([]byte, maxSlots*frameHeaderSize)
	c.out.traces.sampled = make([]probe.Message, 0, maxBatchFrames)
	c.out.zeros = make([]byte, c.in.payloadSize()/maxPadding)
	for _, r := range c.ins {
		r.gate.feed(r)
	}
}

// kick makes the driver collect and write.
func (c *conn) kick() {
	if !c.closed {
		c.stack.driver.kick(c)
	}
}

// begin judges a header and prepares for the frame's payload.
func (c *conn) begin(h *header) error {
	if h.epoch != c.epoch {
		return fmt.Errorf("%w: epoch %d, want %d", ErrStale, h.epoch, c.epoch)
	}
	if err := h.bound(c.in.payloadSize()); err != nil {
		return c.blame(h, err)
	}
	if c.left && h.kind != frameCredit {
		return fmt.Errorf("%w: %v after the goodbye", ErrFrame, h.kind)
	}
	switch h.kind {
	case frameData, frameEvent, frameBacklog:
		return c.beginReceived(h)
	case frameCredit:
		return c.credit(h)
	}
	if h.channel != 0 {
		return fmt.Errorf("%w: %v frame for channel %d", ErrChannel, h.kind, h.channel)
	}
	switch h.kind {
	case frameGoodbye:
		c.left = true
		c.kick()
	case frameAsk:
		c.asked(h)
	}
	return nil
}

func (c *conn) beginReceived(h *header) error {
	r := c.ins[h.channel]
	if r == nil {
		return c.blame(h, fmt.Errorf("%w: %v frame for channel %d", ErrChannel, h.kind, h.channel))
	}
	return c.blame(h, r.begin(h))
}

func (c *conn) credit(h *header) error {
	o := c.outs[h.channel]
	if o == nil {
		return c.blame(h, fmt.Errorf("%w: credit for channel %d", ErrChannel, h.channel))
	}
	return c.blame(h, o.sub.limit(h.sequence, &c.stack.turn))
}

// finish hands a complete frame on.
func (c *conn) finish(f *frame) error {
	if f.head.flags&flagChecksum != 0 {
		if sum := checksum(f.payload()); sum != f.head.payload {
			return c.blame(&f.head, fmt.Errorf("%w: checksum %08x, want %08x", ErrChecksum, sum, f.head.payload))
		}
	}
	c.stack.stats.framesIn.Add(1)
	switch f.head.kind {
	case frameData:
		f.channel.deliver(f)
	case frameEvent:
		f.channel.deliverEvent(f)
	case frameControl:
		c.stack.opts.OnControl(c.peer, f.mem)
	case frameAnswer:
		return c.answered(f)
	}
	return nil
}

// lost is what the end of the peer's stream means: an error unless both ends are
// done.
func (c *conn) lost(err error) error {
	switch {
	case !c.left && err == io.EOF:
		return ErrLost
	case !c.left:
		return fmt.Errorf("%w: %w", ErrLost, err)
	case !c.out.said && !(c.drained() && c.out.empty()):
		return ErrLeft
	}
	return nil
}

// blame adds the edge to an error that is one channel's fault.
func (c *conn) blame(h *header, err error) error {
	if err == nil {
		return nil
	}
	if r := c.ins[h.channel]; r != nil && h.kind != frameCredit {
		return &edgeError{edge: r.edge(), err: err}
	}
	if o := c.outs[h.channel]; o != nil && h.kind == frameCredit {
		return &edgeError{edge: o.edge(), err: err}
	}
	return err
}

// drained reports whether nothing more is queued for the peer. A queue that the
// subtask gave up counts as drained.
func (c *conn) drained() bool {
	for _, o := range c.outs {
		if !o.sub.empty() {
			return false
		}
	}
	return c.out.active.len() == 0 && c.out.credits.len() == 0 && c.ctl.empty()
}

// work is posted when the first control message is queued.
func (c *conn) work() { c.kick() }

// refused is called when something becomes ready for a peer that is gone.
func (c *conn) refused() {
	if c.left && !c.failed {
		c.stack.failed(c, ErrLeft)
	}
}

// done reports whether both ends have said goodbye, and all of it has left.
func (c *conn) done() bool { return c.left && c.out.said && c.out.empty() }

// release gives back everything that the connection holds. Nothing is fed or
// collected afterwards.
func (c *conn) release() {
	c.closed = true
	c.in.release()
	c.out.release()
	for _, r := range c.ins {
		r.release()
	}
}
