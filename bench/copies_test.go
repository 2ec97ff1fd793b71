package bench_test

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/unaligned"
)

// ledger follows the bytes of records by where they lie: a record that is decoded from the
// memory that it was encoded to has not been copied in between. It counts records, and no
// instruction of the record path is there for it. How often bytes have moved that did, it does
// not know: large ones are put together from pieces, and that is at least once.
type ledger struct {
	mu      sync.Mutex
	places  map[uint64]*byte // of each record's first byte, when it was encoded
	encoded int64            // bytes that encoders have written
	decoded int64            // bytes that decoders have read
	moved   int64            // of these, from another place than they were written to
}

// ledgerCodec is the codec of records that begin with their number. It lends what it decodes.
type ledgerCodec struct{ *ledger }

// Append implements operators.Codec.
func (c ledgerCodec) Append(dst, v []byte) []byte {
	to := append(dst, v...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.encoded += int64(len(v))
	c.places[binary.LittleEndian.Uint64(v)] = &to[len(dst)]
	return to
}

// Decode implements operators.Codec.
func (c ledgerCodec) Decode(src []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decoded += int64(len(src))
	if c.places[binary.LittleEndian.Uint64(src)] != &src[0] {
		c.moved += int64(len(src))
	}
	return src, nil
}

// Fingerprint implements operators.Codec.
func (c ledgerCodec) Fingerprint() uint64 { return 1 }

// flow is a job that moves records of a size from one subtask to another.
func (l *ledger) flow(size int, count uint64) *overtake.Job {
	l.places = map[uint64]*byte{}
	record := make([]byte, size)
	job := overtake.NewJob("copies", overtake.Options{Parallelism: 1})
	records := overtake.From(job, generate.Source(func(n uint64) []byte {
		binary.LittleEndian.PutUint64(record, n)
		return record
	}, generate.Options{Count: count}), overtake.WithCodec(ledgerCodec{l}), overtake.WithUID("in"))
	overtake.To(records.Rebalance(), memory.Discard[[]byte](), overtake.WithUID("out"))
	return job
}

// What is encoded once and decoded once is not copied in between if records fit the buffers.
// Larger ones are, but not encoded or decoded again.
func TestGateOfCopies(t *testing.T) {
	for _, c := range []struct {
		name  string
		size  int
		count uint64
	}{
		{"local, 100-byte records: bytes moved per byte", 100, 20_000},
		{"local, records of a buffer: bytes moved per byte", 32<<10 - 100, 500},
		{"", 100_000, 200},
	} {
		l := &ledger{}
		if err := l.flow(c.size, c.count).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		total := int64(c.size) * int64(c.count)
		if l.encoded != total || l.decoded != total {
			t.Errorf("records of %d bytes: %d bytes were encoded and %d decoded, want each of %d once", c.size, l.encoded, l.decoded, total)
		}
		if c.name == "" {
			continue
		}
		pass(t, c.name, float64(l.moved)/float64(total))
	}
}

// A capture that shares buffers writes them from where they lie. How many it may share, one
// for each channel, is up to the task; the rest is copied once.
func TestGateOfCopiesOfACapture(t *testing.T) {
	arena, err := bufferpool.New(bufferpool.Options{SegmentSize: 4096, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := arena.NewPool(bufferpool.PoolOptions{Name: "capture", Min: 8, Max: 64})
	if err != nil {
		t.Fatal(err)
	}
	var shared atomic.Int64
	c := unaligned.NewCapture(&shared)
	w := placed{places: map[*byte]bool{}}
	for n := range 64 {
		buf, ok := pool.Get()
		if !ok {
			t.Fatal("the pool has no buffer left")
		}
		buf.SetLen(1000 + n)
		w.places[&buf.Payload()[0]] = true
		c.Take(unaligned.Channel{From: n % 4}, n%2 == 0, buf, true)
	}
	if err := c.Write(&w); err != nil {
		t.Fatal(err)
	}
	total := c.Bytes(true) + c.Bytes(false)
	if w.shared+w.other != total || shared.Load() != 64 {
		t.Errorf("%d bytes were written of %d, from %d shared buffers", w.shared+w.other, total, shared.Load())
	}
	pass(t, "capture of shared buffers: bytes copied per byte", float64(w.other)/float64(total))
	c.Release()
	pool.Close()
	if err := arena.Close(); err != nil {
		t.Error(err)
	}
}

// placed counts what is written from some places, and from others.
type placed struct {
	places        map[*byte]bool
	shared, other int64
}

// Write implements io.Writer.
func (w *placed) Write(p []byte) (int, error) {
	if w.places[&p[0]] {
		w.shared += int64(len(p))
	} else {
		w.other += int64(len(p))
	}
	return len(p), nil
}
