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
