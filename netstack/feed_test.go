package netstack

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/internal/invariant"
	"pgregory.net/rapid"
)

// stillDriver runs nothing: the test plays the driver.
type stillDriver struct{ mail mailbox }

func (d *stillDriver) post(w work)            { d.mail.post(w) }
func (d *stillDriver) kick(*conn)             {}
func (d *stillDriver) start([]net.Conn) error { return nil }
func (d *stillDriver) close()                 {}
func (d *stillDriver) abort()                 {}

type nopWaker struct{}

func (nopWaker) Wake() {}

const (
	feedChannels = 3
	feedWindow   = 64 // buffers per channel
)

// feedRig is the receiving half of a connection without a socket.
type feedRig struct {
	arena   *bufferpool.Arena
	stack   *Stack
	conn    *conn
	gate    *Gate
	control [][]byte
	vec     [][]byte
}

func newFeedRig(segment int) (*feedRig, error) {
	arena, err := bufferpool.New(bufferpool.Options{SegmentSize: segment, Budget: int64(segment) * (feedChannels*feedWindow + 40)})
	if err != nil {
		return nil, err
	}
	r := &feedRig{arena: arena}
	r.stack, err = NewStack(StackOptions{
		Arena: arena, Peers: []string{"localhost:1", "localhost:2"}, Epoch: 7,
		OnControl: func(_ int, payload []byte) { r.control = append(r.control, payload) },
	})
	if err != nil {
		return nil, err
	}
	r.stack.driver = &stillDriver{}
	r.gate, err = NewGate(GateOptions{Name: "sink[0]", Inputs: []int{feedChannels}, Exclusive: feedWindow, Waker: nopWaker{}})
	if err != nil {
		return nil, err
	}
	for ch := range feedChannels {
		err = errors.Join(err, r.stack.BindIn(1, uint32(1+ch), r.gate, ch))
	}
	if err = errors.Join(err, r.stack.reserve()); err != nil {
		return nil, err
	}
	r.conn = r.stack.conns[1]
	r.conn.open()
	r.drainOut()
	return r, nil
}

// drainOut lets everything collected leave.
func (r *feedRig) drainOut() {
	for {
		r.conn.out.collect()
		if r.conn.out.empty() {
			return
		}
		r.conn.out.advance(r.conn.out.bytes)
	}
}

// feed reads the stream in pieces of the given sizes, in turn.
func (r *feedRig) feed(stream []byte, sizes func() int) error {
	for len(stream) > 0 {
		r.vec = r.conn.in.vectors(r.vec[:0], maxPieces+1)
		n := 0
		for _, v := range r.vec {
			m := copy(v, stream[:min(len(stream), max(1, sizes()))])
			n, stream = n+m, stream[m:]
			if m < len(v) {
				break
			}
		}
		if err := r.conn.in.advance(n); err != nil {
			return err
		}
		r.stack.flush()
	}
	return nil
}

func (r *feedRig) close() error {
	r.conn.release()
	r.stack.flush()
	r.gate.Close()
	for _, p := range r.stack.pools {
		p.Close()
	}
	if n := r.arena.Held(); n != 0 {
		return fmt.Errorf("%d buffers held:\n%v", n, r.arena.Ledger())
	}
	return r.arena.Close()
}

// take empties the gate and describes what came, by channel.
func (r *feedRig) take() (got [feedChannels][]string) {
	for it, ok := r.gate.Next(); ok; it, ok = r.gate.Next() {
		if it.Event != nil {
			got[it.Channel] = append(got[it.Channel], fmt.Sprintf("event %d %x", it.Event.Kind, it.Event.Payload))
			continue
		}
		got[it.Channel] = append(got[it.Channel], fmt.Sprintf("data %v %x", it.Partial, it.Buf.Payload()))
		it.Buf.Release()
		r.gate.Done(it.Channel)
	}
	return got
}

// validStream draws a stream that an honest peer could send, and what must come
// out of it.
func validStream(t *rapid.T, payload int) (stream []byte, want [feedChannels][]string, control [][]byte) {
	var sequence [feedChannels]uint64
	content := byte(0)
	fill := func(n int) []byte {
		content++
		return bytes.Repeat([]byte{content}, n)
	}
	frame := func(h header, body []byte) {
		h.epoch, h.length = 7, uint32(len(body))
		if h.flags&flagChecksum != 0 {
			h.payload = checksum(body)
		}
		head := make([]byte, frameHeaderSize)
		h.put(head)
		stream = append(append(stream, head...), body...)
	}
	for range rapid.IntRange(1, 60).Draw(t, "frames") {
		ch := rapid.IntRange(0, feedChannels-1).Draw(t, "channel")
		switch rapid.SampledFrom([]string{"full", "full", "full", "data", "event", "backlog", "control"}).Draw(t, "frame") {
		case "full", "data":
			n := payload
			if rapid.Bool().Draw(t, "short") {
				n = rapid.IntRange(0, payload).Draw(t, "length")
			}
			part := rapid.Bool().Draw(t, "partial")
			h := header{kind: frameData, channel: uint32(1 + ch), sequence: sequence[ch]}
			if part {
				h.flags |= flagPartial
			}
			if rapid.Bool().Draw(t, "checksum") {
				h.flags |= flagChecksum
			}
			padded := rapid.Bool().Draw(t, "padded")
			if padded {
				h.flags |= flagPadded
			}
			body := fill(n)
			frame(h, body)
			if padded {
				stream = append(stream, make([]byte, payload-n)...)
			}
			sequence[ch]++
			want[ch] = append(want[ch], fmt.Sprintf("data %v %x", part, body))
		case "event":
			body := fill(rapid.IntRange(0, 600).Draw(t, "length"))
			frame(header{kind: frameEvent, channel: uint32(1 + ch), sequence: 16}, body)
			want[ch] = append(want[ch], fmt.Sprintf("event 16 %x", body))
		case "backlog":
			frame(header{kind: frameBacklog, channel: uint32(1 + ch), backlog: 5}, nil)
		case "control":
			body := fill(rapid.IntRange(0, 3000).Draw(t, "length"))
			frame(header{kind: frameControl}, body)
			control = append(control, body)
		}
	}
	return stream, want, control
}

// TestFeedIsIndifferentToSplits: however the bytes of a stream are cut by the
// network, the same buffers, events and messages come out, and nothing is left.
func TestFeedIsIndifferentToSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.SampledFrom([]int{256, 1024, 8192}).Draw(t, "segment")
		r, err := newFeedRig(segment)
		if err != nil {
			t.Fatal(err)
		}
		stream, want, control := validStream(t, r.arena.PayloadSize())
		style := rapid.SampledFrom([]string{"any", "tiny", "segments", "all"}).Draw(t, "splits")
		sizes := func() int {
			switch style {
			case "tiny":
				return rapid.IntRange(1, 40).Draw(t, "split")
			case "segments":
				return segment
			case "all":
				return len(stream)
			}
			return rapid.IntRange(1, 3*segment).Draw(t, "split")
		}
		if err := r.feed(stream, sizes); err != nil {
			t.Fatal(err)
		}
		if got := r.take(); !slices.EqualFunc(got[:], want[:], slices.Equal[[]string]) {
			t.Errorf("got %v\nwant %v", got, want)
		}
		if !slices.EqualFunc(r.control, control, bytes.Equal) {
			t.Errorf("got control %x, want %x", r.control, control)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFeedAllocatesNothing: neither receiving nor announcing credit does.
func TestFeedAllocatesNothing(t *testing.T) {
	r, err := newFeedRig(1 << 10)
	if err != nil {
		t.Fatal(err)
	}
	var sequence uint64
	body := make([]byte, r.arena.PayloadSize())
	stream := make([]byte, 0, 32<<10)
	round := func() {
		stream = stream[:0]
		for i := range 16 {
			h := header{kind: frameData, epoch: 7, channel: 1, sequence: sequence, length: uint32(len(body) - 500*(i%2))}
			sequence++
			at := len(stream)
			stream = append(stream, body[:frameHeaderSize]...)
			h.put(stream[at:])
			stream = append(stream, body[:h.length]...)
		}
		if err := r.feed(stream, func() int { return 1 << 10 }); err != nil {
			t.Fatal(err)
		}
		for it, ok := r.gate.Next(); ok; it, ok = r.gate.Next() {
			it.Buf.Release()
			r.gate.Done(it.Channel)
		}
		r.stack.driver.(*stillDriver).mail.run()
		r.drainOut()
	}
	for range 20 {
		round() // lets the queues grow to their size
	}
	if n := testing.AllocsPerRun(100, round); n > 0 && !invariant.Enabled {
		t.Errorf("%v allocations per round of 16 frames, want none", n)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// FuzzFeed: whatever a peer sends after its handshake, in whatever pieces, nothing
// panics and no buffer is lost.
func FuzzFeed(f *testing.F) {
	valid := []byte{}
	for i := range 4 {
		h := header{kind: frameData, epoch: 7, channel: uint32(1 + i%3), length: 96, sequence: uint64(i / 3)}
		head := make([]byte, frameHeaderSize)
		h.put(head)
		valid = append(append(valid, head...), make([]byte, 96)...)
	}
	f.Add(valid, uint8(50))
	f.Add(valid[:100], uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, split uint8) {
		r, err := newFeedRig(256)
		if err != nil {
			t.Fatal(err)
		}
		// A fuzzer does not find checksums: complete the header of each frame.
		for at := 0; at+frameHeaderSize <= len(stream); {
			h := header{kind: frameType(stream[at] % 8), flags: stream[at+1], epoch: 7,
				channel: uint32(stream[at+4] % 5), length: uint32(stream[at+8]) | uint32(stream[at+9])<<8, backlog: uint32(stream[at+12]),
				sequence: uint64(stream[at+16])}
			h.put(stream[at:])
			at += frameHeaderSize + int(h.length)
		}
		_ = r.feed(stream, func() int { return int(split) })
		r.take()
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
}
