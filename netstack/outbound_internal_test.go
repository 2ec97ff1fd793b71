package netstack

import (
	"fmt"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

// outRig is the sending half of a connection without a socket.
type outRig struct {
	t     *testing.T
	arena *bufferpool.Arena
	stack *Stack
	conn  *conn
	out   *Partition
	mail  *stillDriver
}

// newOutRig joins every subpartition to a channel that has credit for all of it.
func newOutRig(t *testing.T, channels int, broadcast bool) *outRig {
	t.Helper()
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := &outRig{t: t, mail: &stillDriver{}}
	var err error
	r.arena, err = bufferpool.New(bufferpool.Options{SegmentSize: 256, Budget: 256 * 1024})
	fatal(err)
	r.stack, err = NewStack(StackOptions{Arena: r.arena, Peers: []string{"localhost:1", "localhost:2"}, Epoch: 7})
	fatal(err)
	r.stack.driver = r.mail
	r.out, err = NewPartition(r.arena, PartitionOptions{
		Subpartitions: channels, Broadcast: broadcast, Exclusive: 20, MaxQueued: 50, Waker: nopWaker{}, Wait: func() { t.Error("it waits") },
	})
	fatal(err)
	for ch := range channels {
		fatal(r.stack.BindOut(1, uint32(1+ch), r.out, ch))
	}
	fatal(r.stack.reserve())
	r.conn = r.stack.conns[1]
	r.conn.open()
	for ch := range channels {
		fatal(r.out.subs[ch].limit(50, nil))
	}
	return r
}

// full writes a whole buffer that is filled with b.
func (r *outRig) full(sub int, b byte) {
	space := r.out.Space(sub, r.out.MaxRecord())
	for i := range space {
		space[i] = b
	}
	r.out.Commit(sub, len(space))
	r.out.seal(sub, false, 0)
}

// collected says what is to be written next: "1:5" is a buffer filled with 5 on
// channel 1, "1:e16" an event.
func (r *outRig) collected() (lines []string) {
	for r.mail.mail.run() {
	}
	r.conn.out.collect()
	var stream []byte
	for _, v := range r.conn.out.vectors(nil) {
		stream = append(stream, v...)
	}
	for len(stream) > 0 {
		var h header
		if err := h.parse(stream); err != nil {
			r.t.Fatal(err)
		}
		payload := stream[frameHeaderSize:][:h.length]
		switch h.kind {
		case frameData:
			lines = append(lines, fmt.Sprintf("%d:%d", h.channel, payload[0]))
			if i := slices.IndexFunc(payload, func(b byte) bool { return b != payload[0] }); i >= 0 {
				r.t.Errorf("byte %d of a buffer of %d is %d", i, payload[0], payload[i])
			}
		case frameEvent:
			lines = append(lines, fmt.Sprintf("%d:e%d", h.channel, h.sequence))
		}
		stream = stream[frameHeaderSize+h.length:]
	}
	return lines
}

func (r *outRig) leave() { r.conn.out.advance(r.conn.out.bytes) }

func (r *outRig) close() {
	r.t.Helper()
	r.conn.release()
	r.out.Cancel()
	r.out.Close()
	for _, p := range r.stack.pools {
		p.Close()
	}
	if n := r.arena.Held(); n != 0 {
		r.t.Errorf("%d buffers held:\n%v", n, r.arena.Ledger())
	}
	if err := r.arena.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *outRig) want(lines []string, want ...string) {
	r.t.Helper()
	if !slices.Equal(lines, want) {
		r.t.Errorf("collected %q, want %q", lines, want)
	}
}

func urgentEvent(kind EventKind) *Event { return &Event{Kind: kind, Priority: true} }

// TestPriorityEventLeavesBeforeOtherChannelsData: it does not wait for its channel's
// turn, and passes all that is not collected yet, but nothing that is.
func TestPriorityEventLeavesBeforeOtherChannelsData(t *testing.T) {
	r := newOutRig(t, 12, false)
	defer r.close()
	for ch := range 12 {
		for range quantum {
			r.full(ch, byte(ch))
		}
	}
	r.full(10, 100)
	first := r.collected() // 32 buffers: 4 of each of the first 8 channels
	if len(first) != maxBatchFrames {
		t.Fatalf("collected %q", first)
	}
	r.out.Emit(10, urgentEvent(20))
	r.out.Emit(10, urgentEvent(21))
	r.out.Emit(11, urgentEvent(22))
	r.out.Emit(0, urgentEvent(23)) // this channel is not in the list any more
	second := r.collected()
	r.want(second[:maxBatchFrames], first...)
	r.want(second[maxBatchFrames:], "11:e20", "11:e21", "12:e22", "1:e23")
	r.leave()
	r.want(r.collected(), "9:8", "9:8", "9:8", "9:8", "10:9", "10:9", "10:9", "10:9", "11:10", "11:10", "11:10", "11:10",
		"12:11", "12:11", "12:11", "12:11", "11:100")
	r.leave()
	r.want(r.collected())
	r.full(10, 1)
	r.want(r.collected(), "11:1") // the channel goes on
}

// TestPriorityEventsOnly: an event of a channel that has nothing else, and of one that
// lacks credit.
func TestPriorityEventsOnly(t *testing.T) {
	r := newOutRig(t, 2, false)
	defer r.close()
	r.out.Emit(1, urgentEvent(20))
	r.want(r.collected(), "2:e20")
	r.leave()
	for n := range 52 { // credit for 50
		r.full(0, byte(n))
		r.collected()
		r.leave()
	}
	r.out.Overtake(urgentEvent(21), Passing{})
	r.want(r.collected(), "1:e21", "2:e21")
	r.leave()
	r.want(r.collected())
}

// TestHeldBackEventLeavesInItsPlace: one that is not at the head is no urgent matter.
func TestHeldBackEventLeavesInItsPlace(t *testing.T) {
	r := newOutRig(t, 1, false)
	defer r.close()
	r.full(0, 1)
	r.out.Emit(0, &Event{Kind: 30})
	r.full(0, 2)
	r.out.Overtake(urgentEvent(20), Passing{Stop: func(e *Event) bool { return e.Kind == 30 }})
	r.full(0, 3)
	r.want(r.collected(), "1:1", "1:e30", "1:e20", "1:2", "1:3")
}

// TestUrgentChannelsAfterTheEnd of a connection hold nothing.
func TestUrgentChannelsAfterTheEnd(t *testing.T) {
	r := newOutRig(t, 1, false)
	r.full(0, 1)
	r.out.Emit(0, urgentEvent(20))
	r.collected()
	r.out.Emit(0, urgentEvent(21))
	r.close()
	for r.mail.mail.run() {
	}
	if n := r.conn.out.urgent.len(); n != 0 {
		t.Errorf("%d channels are urgent on a closed connection", n)
	}
}

// TestSharedBuffersKeepTheirHeadroom: a buffer that somebody else holds as well is
// sent with a header elsewhere, also while others of the same channel are not.
func TestSharedBuffersKeepTheirHeadroom(t *testing.T) {
	r := newOutRig(t, 2, false)
	defer r.close()
	for n := range byte(4) {
		r.full(0, 10+n)
		r.full(1, 20+n)
	}
	var kept []bufferpool.Buffer
	r.out.Overtake(urgentEvent(20), Passing{Share: func(sub int, buf bufferpool.Buffer, _ bool) {
		if sub == 1 {
			buf.Release()
			return
		}
		head := buf.Segment()[:bufferpool.Headroom]
		for i := range head {
			head[i] = 0xEE
		}
		kept = append(kept, buf)
	}})
	r.want(r.collected(), "1:e20", "2:e20", "1:10", "1:11", "1:12", "1:13", "2:20", "2:21", "2:22", "2:23")
	r.leave()
	for _, buf := range kept {
		if i := slices.IndexFunc(buf.Segment()[:bufferpool.Headroom], func(b byte) bool { return b != 0xEE }); i >= 0 {
			t.Errorf("byte %d of the headroom of a shared buffer was written", i)
		}
		if buf.Shared() {
			t.Error("the sender still holds a buffer that has left")
		}
		buf.Release()
	}
	if len(kept) != 4 {
		t.Errorf("%d buffers were shared, want 4", len(kept))
	}
}
