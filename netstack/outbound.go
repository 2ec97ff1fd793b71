package netstack

import (
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/perf/probe"
)

const (
	maxBatchFrames = 32      // data frames collected for one write
	maxBatchBytes  = 1 << 20 // and their bytes
	quantum        = 4       // items that one channel adds before it is another's turn
	maxSlots       = 256     // headers that are not in the headroom of a buffer
	maxVectors     = 3*maxBatchFrames + maxSlots/2
)

// outbound is the sending half of a connection: it collects what may be sent into
// a list of slices, in the order in which they leave. Data comes before credit, so
// that at the receiver a full batch starts aligned and stays so.
type outbound struct {
	// constant
	conn  *conn
	slots []byte // room for headers
	zeros []byte // padding

	active  ring[*remoteOut] // channels that have something to send, in turn
	urgent  ring[*remoteOut] // channels that may have priority events
	credits ring[*remoteIn]  // channels whose limit may have to be announced
	said    bool             // the goodbye is collected

	vec    []outSlice
	data   int  // data frames in vec
	bytes  int  // bytes in vec
	used   int  // slots in use
	joined bool // the last slice ends at slots[used]
	batch  [quantum]item
	traces traces
}

// outSlice is a piece of memory to be written; the buffer that it is part of, if
// any, is released once it has left.
type outSlice struct {
	b   []byte
	own bufferpool.Buffer
}

// empty reports whether all that was collected has left.
func (o *outbound) empty() bool { return len(o.vec) == 0 }

// collect fills the list up: control, priority events, data, credit, and the goodbye when that is
// all.
func (o *outbound) collect() {
	o.conn.stack.turn.over()
	if !o.said {
		o.collectClock()
		o.collectControl()
		o.collectUrgent()
		o.collectData()
	}
	o.collectCredits()
	if c := o.conn; c.closing && !o.said && o.room() && c.drained() {
		o.said = true
		o.small(&header{kind: frameGoodbye})
	}
}

// room reports whether a frame that is not data fits.
func (o *outbound) room() bool { return o.used < maxSlots && len(o.vec) < maxVectors-1 }

func (o *outbound) collectControl() {
	for o.room() {
		msg, ok := o.conn.ctl.pop()
		if !ok {
			return
		}
		o.whole(&header{kind: frameControl, length: uint32(len(msg))}, msg)
	}
}

// collectUrgent takes priority events from the heads of their channels' queues.
func (o *outbound) collectUrgent() {
	for o.urgent.len() > 0 && o.room() {
		ch := *o.urgent.at(0)
		if e := ch.sub.takePriority(); e != nil {
			o.event(ch, e)
		} else {
			o.urgent.pop()
		}
	}
}

func (o *outbound) collectData() {
	for o.active.len() > 0 && o.data < maxBatchFrames && o.bytes < maxBatchBytes &&
		o.used+quantum <= maxSlots && len(o.vec)+3*quantum <= maxVectors {
		ch := o.active.pop()
		items, t := ch.sub.take(o.batch[:0], min(quantum, maxBatchFrames-o.data), o.conn.stack.turn.Now())
		if t.report {
			o.small(&header{kind: frameBacklog, channel: ch.id, backlog: uint32(t.backlog)})
		}
		if len(items) > 0 || t.report {
			o.active.push(ch)
		}
		o.items(ch, items, t)
		clear(items)
	}
}

// items adds what one channel gave.
func (o *outbound) items(ch *remoteOut, items []item, t taken) {
	behind := t.backlog
	for i := range items {
		if items[i].isData() {
			behind++
		}
	}
	for _, it := range items {
		if !it.isData() {
			o.event(ch, it.event)
			continue
		}
		behind--
		h := header{kind: frameData, channel: ch.id, length: uint32(it.buf.Len()), backlog: uint32(behind), sequence: t.sequence}
		if it.part {
			h.flags = flagPartial
		}
		t.sequence++
		if it.trace {
			o.sampled(&h, it.buf, t.granted)
			continue
		}
		o.frame(&h, it.buf)
	}
}

// sampled adds the frame of a buffer that a profiler looks at. granted is when its
// channel was given credit last.
func (o *outbound) sampled(h *header, buf bufferpool.Buffer, granted int64) {
	m := probe.Message{Channel: uint64(h.channel), Sequence: h.sequence}
	opened, sealed := sentTrace(buf) // before the header takes their place
	m.Stamps[probe.Opened], m.Stamps[probe.Sealed] = opened, sealed
	if granted > sealed {
		m.Stamps[probe.Granted] = granted
	}
	m.Stamps[probe.Taken] = probe.Now()
	h.flags |= flagSampled
	o.frame(h, buf)
	o.traces.add(m, o.bytes)
}

// begin is called right before what was collected is written.
func (o *outbound) begin() {
	if len(o.traces.sampled) > 0 {
		o.traces.begin(o.conn)
	}
}

// frame adds a data frame; it takes the buffer. The header goes in front of the
// payload, unless others hold the buffer too and may be doing the same.
func (o *outbound) frame(h *header, buf bufferpool.Buffer) {
	buf.SetState(bufferpool.InFlight)
	o.data++
	pad := len(buf.Space()) - buf.Len()
	if pad > len(o.zeros) {
		pad = 0
	}
	if pad > 0 {
		h.flags |= flagPadded
	}
	if buf.Shared() {
		o.header(h, buf.Payload())
		o.push(buf.Payload(), buf)
	} else {
		o.stamp(h, buf.Payload())
		b := buf.Frame()
		h.put(b)
		o.push(b, buf)
	}
	if pad > 0 {
		o.push(o.zeros[:pad], bufferpool.Buffer{})
	}
}

func (o *outbound) event(ch *remoteOut, e *Event) {
	h := header{kind: frameEvent, channel: ch.id, length: uint32(len(e.Payload)), sequence: uint64(e.Kind)}
	if e.Priority {
		h.flags = flagPriority
	}
	o.whole(&h, e.Payload)
}

// whole adds a frame whose payload is on the heap. It shares the payload.
func (o *outbound) whole(h *header, payload []byte) {
	o.header(h, payload)
	if len(payload) > 0 {
		o.push(payload, bufferpool.Buffer{})
	}
}

func (o *outbound) small(h *header) { o.header(h, nil) }

func (o *outbound) collectCredits() {
	for o.credits.len() > 0 && o.room() {
		r := o.credits.pop()
		r.owes = false
		if o.conn.left {
			continue // the peer sends no more
		}
		if limit, due := r.recv.Announce(); due {
			o.small(&header{kind: frameCredit, channel: r.id, sequence: limit})
		}
	}
}

// header adds a header in a slot of its own. Slots in a row are one slice.
func (o *outbound) header(h *header, payload []byte) {
	o.stamp(h, payload)
	at := o.used * frameHeaderSize
	h.put(o.slots[at:])
	if o.joined {
		last := &o.vec[len(o.vec)-1]
		last.b = last.b[:len(last.b)+frameHeaderSize]
		o.bytes += frameHeaderSize
	} else {
		o.push(o.slots[at:at+frameHeaderSize:len(o.slots)], bufferpool.Buffer{})
	}
	o.used++
	o.joined = true
}

// stamp completes a header: the epoch, and the checksum if it is wanted.
func (o *outbound) stamp(h *header, payload []byte) {
	h.epoch = o.conn.epoch
	if o.conn.stack.opts.PayloadCRC && len(payload) > 0 {
		h.flags |= flagChecksum
		h.payload = checksum(payload)
	}
	o.conn.stack.stats.framesOut.Add(1)
}

func (o *outbound) push(b []byte, own bufferpool.Buffer) {
	o.vec = append(o.vec, outSlice{b: b, own: own})
	o.bytes += len(b)
	o.joined = false
}

// vectors appends what is to be written, and lends it until advance.
func (o *outbound) vectors(dst [][]byte) [][]byte {
	for i := range o.vec {
		dst = append(dst, o.vec[i].b)
	}
	return dst
}

// advance notes that n bytes of what vectors returned have left, and releases
// each buffer that has left as a whole.
func (o *outbound) advance(n int) {
	o.bytes -= n
	o.traces.left += uint64(n)
	i := 0
	for ; i < len(o.vec) && n >= len(o.vec[i].b); i++ {
		n -= len(o.vec[i].b)
		if own := o.vec[i].own; !own.IsZero() {
			o.data--
			own.Release()
		}
	}
	if n > 0 {
		o.vec[i].b = o.vec[i].b[n:]
	}
	rest := copy(o.vec, o.vec[i:])
	clear(o.vec[rest:])
	o.vec = o.vec[:rest]
	if rest == 0 {
		o.used, o.joined = 0, false
	}
}

func (o *outbound) release() {
	for i := range o.vec {
		if own := o.vec[i].own; !own.IsZero() {
			own.Release()
		}
	}
	o.vec, o.data, o.bytes = nil, 0, 0
	o.active, o.urgent, o.credits = ring[*remoteOut]{}, ring[*remoteOut]{}, ring[*remoteIn]{}
}
