package netstack

import (
	"encoding/binary"
	"math"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/perf/probe"
)

// A buffer that profilers look at (see package probe) carries what is known of it so
// far in its headroom, which is the frame header's place only while the buffer is on
// a connection. It is written while the buffer has one holder.
//
//	queued at the sender    0 opened | 8 sealed
//	queued at the receiver  0 flow | 8 channel u32 | 12 decoded after u32 | 16 sequence | 24 read

// traceSent notes when the buffer was opened and sealed.
func traceSent(buf bufferpool.Buffer, opened int64) {
	b := buf.Segment()
	binary.NativeEndian.PutUint64(b, uint64(opened))
	binary.NativeEndian.PutUint64(b[8:], uint64(probe.Now()))
}

// sentTrace is what traceSent noted.
func sentTrace(buf bufferpool.Buffer) (opened, sealed int64) {
	b := buf.Segment()
	return int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:]))
}

// traceReceived notes where a message has come from and when it was read. It has just
// been decoded.
func traceReceived(buf bufferpool.Buffer, flow uint64, channel uint32, sequence uint64, read int64) {
	b := buf.Segment()
	binary.NativeEndian.PutUint64(b, flow)
	binary.NativeEndian.PutUint32(b[8:], channel)
	binary.NativeEndian.PutUint32(b[12:], uint32(min(max(0, probe.Now()-read), math.MaxUint32)))
	binary.NativeEndian.PutUint64(b[16:], sequence)
	binary.NativeEndian.PutUint64(b[24:], uint64(read))
}

// Processed tells a profiler that all records of the item's buffer have been processed,
// if it is one of those that are looked at. Call it before the buffer is released.
func (it *Item) Processed() {
	if it.dequeued != 0 && probe.Attached() {
		it.processed()
	}
}

func (it *Item) processed() {
	b := it.Buf.Segment()
	m := probe.Message{
		Flow:     binary.NativeEndian.Uint64(b),
		Channel:  uint64(binary.NativeEndian.Uint32(b[8:])),
		Sequence: binary.NativeEndian.Uint64(b[16:]),
	}
	read := int64(binary.NativeEndian.Uint64(b[24:]))
	m.Stamps[probe.Read] = read
	m.Stamps[probe.Decoded] = read + int64(binary.NativeEndian.Uint32(b[12:]))
	m.Stamps[probe.Dequeued] = it.dequeued
	probe.Processed(&m)
}

// traces are the messages in the frames that an outbound has collected and not begun
// to write.
type traces struct {
	sampled []probe.Message
	left    uint64 // bytes of the stream that have been written
}

// add notes a message whose frame is the last one collected: it ends at the given
// distance from what has been written.
func (t *traces) add(m probe.Message, distance int) {
	m.Start, m.End = t.left, t.left+uint64(distance)
	t.sampled = append(t.sampled, m)
}

// begin is called right before a write of what was collected.
func (t *traces) begin(c *conn) {
	for i := range t.sampled {
		m := &t.sampled[i]
		m.Flow = c.flow
		if c.opaque {
			m.Start, m.End = 0, 0
		}
		probe.WriteBegin(m)
	}
	t.sampled = t.sampled[:0]
}
