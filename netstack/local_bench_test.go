package netstack_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// The benchmarks of this file move records of 100 bytes between goroutines of one
// process, and read every payload, in the ways that come to mind: through
// partitions and gates, through Go channels record by record, and through channels
// in batches that were put together by hand.

const benchPayload = 100

// total keeps the compiler from dropping what the consumers compute.
type total struct {
	sync.Mutex
	sum uint64
}

func (t *total) add(n uint64) {
	t.Lock()
	t.sum += n
	t.Unlock()
}

func digest(b []byte) uint64 { return uint64(b[0]) + uint64(b[len(b)-1]) }

// encode stands for a codec: it fills the payload.
func encode(dst []byte, n int) {
	_ = dst[benchPayload-1]
	dst[0], dst[benchPayload-1] = byte(n), byte(n>>8)
	copy(dst[1:benchPayload-1], benchFiller[:])
}

var benchFiller [benchPayload - 2]byte

// spread mixes n like the hash of a key.
func spread(n int) uint32 { return uint32(uint64(n) * 0x9E3779B97F4A7C15 >> 32) }

func to(hash uint32, receivers int) int { return int(uint64(hash) * uint64(receivers) >> 32) }

// exchange sends b.N records from one goroutine to so many others.
func exchange(b *testing.B, receivers int) {
	a := newArena(b, 32<<10, 256)
	from := newRank(b, a, 1, 0, receivers, netstack.GateOptions{}, netstack.PartitionOptions{})
	rank := newRank(b, a, receivers, 1, 0, netstack.GateOptions{}, netstack.PartitionOptions{})
	join(from, rank)
	var wg sync.WaitGroup
	var t total
	b.ReportAllocs()
	b.ResetTimer()
	for _, s := range rank {
		wg.Go(func() {
			sum := uint64(0)
			s.each(func(it netstack.Item) {
				if it.Event == nil {
					sum += digestAll(it.Buf.Payload())
					it.Buf.Release()
					s.in.Done(it.Channel)
				}
			}, func() {})
			t.add(sum)
		})
	}
	s, size := from[0], record.Size(benchPayload, false)
	for n := range b.N {
		for !s.out.Available() {
			s.out.Await()
			s.wait()
		}
		hash := spread(n)
		sub := to(hash, receivers)
		space := s.out.Space(sub, size)
		encode(space[record.HeaderSize:], n)
		record.Seal(space, record.Data, hash, false, 0, benchPayload)
		s.out.Commit(sub, size)
	}
	s.finish()
	wg.Wait()
	b.StopTimer()
	wantNothingHeld(b, a)
}

func digestAll(buf []byte) (sum uint64) {
	var r record.Record
	it := record.Over(buf)
	for {
		ok, err := it.Next(&r)
		if !ok || err != nil {
			return sum
		}
		sum += digest(r.Payload)
	}
}

// channelRun sends b.N values of type T through channels.
func channelRun[T any](b *testing.B, receivers int, send func(n int) T, receive func(T) uint64) {
	chans := make([]chan T, receivers)
	var wg sync.WaitGroup
	var t total
	b.ReportAllocs()
	b.ResetTimer()
	for i := range chans {
		chans[i] = make(chan T, 1024)
		wg.Go(func() {
			sum := uint64(0)
			for v := range chans[i] {
				sum += receive(v)
			}
			t.add(sum)
		})
	}
	for n := range b.N {
		chans[to(spread(n), receivers)] <- send(n)
	}
	for _, c := range chans {
		close(c)
	}
	wg.Wait()
}

// channelOfSlices hands over slices of a ring of memory that nobody gives back, so
// it is cheaper than any program that has to be right.
func channelOfSlices(b *testing.B, receivers int) {
	ring := make([]byte, 4096*receivers*benchPayload)
	channelRun(b, receivers, func(n int) []byte {
		at := n % (4096 * receivers) * benchPayload
		p := ring[at : at+benchPayload : at+benchPayload]
		encode(p, n)
		return p
	}, digest)
}

func channelOfPooledPointers(b *testing.B, receivers int) {
	pool := sync.Pool{New: func() any { return new([benchPayload]byte) }}
	channelRun(b, receivers, func(n int) *[benchPayload]byte {
		p := pool.Get().(*[benchPayload]byte)
		encode(p[:], n)
		return p
	}, func(p *[benchPayload]byte) uint64 {
		sum := digest(p[:])
		pool.Put(p)
		return sum
	})
}

// handWrittenBatches is what a careful programmer writes for records of any length:
// batches of bytes, as large as the exchange's buffers, with a length before each
// record; and empty ones come back through a second channel.
func handWrittenBatches(b *testing.B, receivers int) {
	const batch = 32 << 10
	full := make([]chan []byte, receivers)
	free := make(chan []byte, 11*receivers)
	for range cap(free) {
		free <- make([]byte, 0, batch)
	}
	var wg sync.WaitGroup
	var t total
	b.ReportAllocs()
	b.ResetTimer()
	for i := range full {
		full[i] = make(chan []byte, 10)
		wg.Go(func() {
			sum := uint64(0)
			for buf := range full[i] {
				for rest := buf; len(rest) > 0; {
					n := 4 + int(binary.LittleEndian.Uint32(rest))
					sum += digest(rest[4:n])
					rest = rest[n:]
				}
				free <- buf[:0]
			}
			t.add(sum)
		})
	}
	open := make([][]byte, receivers)
	var payload [benchPayload]byte
	for n := range b.N {
		i := to(spread(n), receivers)
		if cap(open[i])-len(open[i]) < 4+benchPayload {
			if open[i] != nil {
				full[i] <- open[i]
			}
			open[i] = <-free
		}
		encode(payload[:], n)
		buf := binary.LittleEndian.AppendUint32(open[i], benchPayload)
		open[i] = append(buf, payload[:]...)
	}
	for i, buf := range open {
		if buf != nil {
			full[i] <- buf
		}
		close(full[i])
	}
	wg.Wait()
}

func BenchmarkOneToOne(b *testing.B) {
	b.Run("exchange", func(b *testing.B) { exchange(b, 1) })
	b.Run("slices", func(b *testing.B) { channelOfSlices(b, 1) })
	b.Run("batches", func(b *testing.B) { handWrittenBatches(b, 1) })
}

func BenchmarkHashToFour(b *testing.B) {
	b.Run("exchange", func(b *testing.B) { exchange(b, 4) })
	b.Run("pointers", func(b *testing.B) { channelOfPooledPointers(b, 4) })
	b.Run("batches", func(b *testing.B) { handWrittenBatches(b, 4) })
}

// BenchmarkWrite is the producer's part alone: a consumer in the same goroutine
// gives buffers back unread.
func BenchmarkWrite(b *testing.B) {
	l := newLocal(b, localOptions{segment: 32 << 10, segments: 64})
	p, g := l.outs[0], l.ins[0]
	size := record.Size(benchPayload, false)
	b.ReportAllocs()
	for n := range b.N {
		for !p.Available() {
			it, _ := g.Next()
			it.Buf.Release()
			g.Done(it.Channel)
		}
		space := p.Space(0, size)
		encode(space[record.HeaderSize:], n)
		record.Seal(space, record.Data, 0, false, 0, benchPayload)
		p.Commit(0, size)
	}
	p.Cancel()
	l.close()
}
