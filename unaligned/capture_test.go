package unaligned_test

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/unaligned"
)

// The rest of a buffer that is being read is shared like a whole one, or copied.
func TestACaptureOfTheRestOfABuffer(t *testing.T) {
	arena, err := bufferpool.New(bufferpool.Options{SegmentSize: 4096, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := arena.NewPool(bufferpool.PoolOptions{Name: "capture", Min: 8, Max: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []bool{true, false} {
		var shared atomic.Int64
		c := unaligned.NewCapture(&shared)
		c.Reserve(1)
		var want []byte
		for n := range 6 { // more pieces than there is room for
			buf, ok := pool.Get()
			if !ok {
				t.Fatal("the pool has no buffer left")
			}
			buf.SetLen(100)
			for i := range buf.Payload() {
				buf.Payload()[i] = byte(n + i)
			}
			want = append(want, buf.Payload()[100-n:]...)
			c.TakeRest(unaligned.Channel{Edge: "a to b"}, false, buf, n, share)
		}
		if held := shared.Load(); held != 5 && share || held != 0 && !share {
			t.Errorf("share %v: %d buffers are shared", share, held)
		}
		for range 2 { // as they are, and unshared
			var got bytes.Buffer
			if err := c.Write(&got); err != nil || !bytes.Equal(got.Bytes(), want) || c.Bytes(false) != int64(len(want)) {
				t.Errorf("share %v: wrote %v, want %v (%v)", share, got.Bytes(), want, err)
			}
			c.Unshare()
		}
		c.Release()
		if held := shared.Load(); held != 0 {
			t.Errorf("share %v: %d buffers are left", share, held)
		}
	}
	pool.Close()
	if err := arena.Close(); err != nil {
		t.Error(err)
	}
}

// What was copied lies in memory that captures pass on to each other; none of them sees the
// bytes of another that is still there.
func TestCapturesShareMemory(t *testing.T) {
	var shared atomic.Int64
	var memory unaligned.Memory
	ch := unaligned.Channel{Edge: "a to b"}
	capture := func(fill byte) (c unaligned.Capture, want []byte) {
		c = unaligned.NewCapture(&shared)
		c.Reserve(1)
		c.Use(&memory)
		for _, n := range []int{1, 30 << 10, 30 << 10, 30 << 10, 200 << 10, 5, 64 << 10} { // also more than a chunk has
			b := bytes.Repeat([]byte{fill}, n)
			c.Copy(ch, false, b)
			want = append(want, b...)
			clear(b) // it was lent
			fill++
		}
		return c, want
	}
	check := func(c *unaligned.Capture, want []byte) {
		t.Helper()
		var got bytes.Buffer
		if err := c.Write(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("a capture has %d bytes that are not the %d that it was given (%v)", got.Len(), len(want), err)
		}
	}
	older, first := capture(1)
	for range 3 {
		newer, second := capture(101)
		check(&older, first)
		check(&newer, second)
		older.Release()
		older, first = newer, second
	}
	older.Release()
}

// Once there is memory, to copy allocates nothing.
func TestCopiesAllocateNothing(t *testing.T) {
	var shared atomic.Int64
	var memory unaligned.Memory
	b := make([]byte, 30<<10)
	captures := make([]unaligned.Capture, 12)
	for i := range captures {
		captures[i] = unaligned.NewCapture(&shared)
		captures[i].Reserve(3)
		captures[i].Use(&memory)
	}
	next := 0
	got := testing.AllocsPerRun(10, func() {
		c := &captures[next]
		next++
		for range 4 {
			c.Copy(unaligned.Channel{Edge: "a to b"}, false, b)
		}
		c.Release()
	})
	if got != 0 {
		t.Errorf("%v allocations for a capture", got)
	}
}
