package netstack

import (
	"fmt"
	"sync/atomic"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack/credit"
)

// remoteIn is the receiving end of a channel whose sender is another worker.
type remoteIn struct {
	// constant
	conn    *conn
	id      uint32
	gate    *gateIn
	channel int    // of the gate
	batch   uint64 // buffers that the consumer returns before it bothers the driver

	// subtask goroutine
	told uint64 // of the returned total, when the driver was last told

	// protocol
	recv     credit.Receiver
	parked   int  // buffers in gate.parked that are set aside for this channel
	floating int  // recv.Floating, as counted in gate.floating
	starved  bool // in gate.starved
	hungry   bool // in gate.hungry
	owes     bool // in conn.out.credits

	// atomic
	given  atomic.Uint64 // data buffers given back by the consumer
	posted atomic.Bool   // in the driver's mailbox
	events atomic.Int32  // events delivered and not yet taken
}

var _ creditor = (*remoteIn)(nil)

func newRemoteIn(c *conn, id uint32, g *gateIn, channel int) *remoteIn {
	own := g.gate.opts.Exclusive
	return &remoteIn{
		conn: c, id: id, gate: g, channel: channel, batch: uint64(max(1, own/2)), recv: credit.NewReceiver(own),
	}
}

// returned tells the driver once enough has come back: half of the channel's own
// buffers, so the sender has the other half meanwhile.
func (r *remoteIn) returned(total uint64) {
	r.given.Store(total)
	if total-r.told < r.batch {
		return
	}
	r.told = total
	if r.posted.CompareAndSwap(false, true) {
		r.conn.stack.driver.post(r)
	}
}

// taken is called by the subtask for each event it was handed.
func (r *remoteIn) taken() { r.events.Add(-1) }

// work takes what the consumer gave back. The flag falls before the count is
// read: what comes later posts again.
func (r *remoteIn) work() {
	r.posted.Store(false)
	if r.conn.closed {
		return
	}
	r.recv.Returned(r.given.Load())
	r.gate.feed(r)
}

// begin judges a frame for this channel.
func (r *remoteIn) begin(h *header) error {
	switch h.kind {
	case frameData:
		return r.recv.Data(h.sequence, int(h.backlog))
	case frameBacklog:
		r.recv.Backlog(int(h.backlog))
		r.gate.feed(r)
	case frameEvent:
		if r.events.Add(1) > maxEvents {
			return fmt.Errorf("%w: more than %d in one channel", ErrEvents, maxEvents)
		}
	}
	return nil
}

// unpark returns the buffer for the data frame that recv just accepted.
func (r *remoteIn) unpark() bufferpool.Buffer {
	r.parked--
	return r.gate.unpark()
}

func (r *remoteIn) park(buf bufferpool.Buffer) {
	r.parked++
	r.gate.parked = append(r.gate.parked, buf)
	r.recv.Park(1)
	r.owe()
}

// owe announces the channel's limit with the next write, if it is due then.
func (r *remoteIn) owe() {
	if !r.owes {
		r.owes = true
		r.conn.out.credits.push(r)
		r.conn.kick()
	}
}

func (r *remoteIn) deliver(f *frame) {
	f.buf.SetLen(int(f.head.length))
	f.buf.SetState(bufferpool.Received)
	it := item{buf: f.buf, part: f.head.flags&flagPartial != 0}
	if f.head.flags&flagSampled != 0 && r.conn.in.readAt != 0 {
		it.trace = true
		traceReceived(f.buf, r.conn.flow, r.id, f.head.sequence, r.conn.in.readAt)
	}
	r.gate.stage(arrival{channel: int32(r.channel), item: it})
	r.gate.feed(r)
}

func (r *remoteIn) deliverEvent(f *frame) {
	e := &Event{Kind: EventKind(f.head.sequence), Priority: f.head.flags&flagPriority != 0, Payload: f.mem}
	r.gate.stage(arrival{channel: int32(r.channel), item: item{event: e}})
}

func (r *remoteIn) edge() string {
	return fmt.Sprintf("%s → %s, channel %d", r.conn.addr, r.gate.gate.opts.Name, r.id)
}

func (r *remoteIn) release() {
	for ; r.parked > 0; r.parked-- {
		r.gate.unpark().Release()
	}
}
