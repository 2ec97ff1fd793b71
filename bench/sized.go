package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// hotBytes is what records are copied from: it stays in the cache.
const hotBytes = 32 << 10

// localMove moves the transfer's bytes to another goroutine of this process, through
// channels in turn. A record begins with its number.
func (w wire) localMove() (m moved, err error) {
	arena, err := bufferpool.New(bufferpool.Options{Budget: w.Memory, Prefault: w.Memory <= 128<<20})
	if err != nil {
		return m, err
	}
	out, err := newOutlet(arena, w.partition(0, 0))
	if err != nil {
		return m, err
	}
	in, err := newInlet(w.gate(w.Channels))
	if err != nil {
		return m, err
	}
	for ch := range w.Channels {
		netstack.ConnectLocal(out.Partition, ch, in.Gate, ch)
	}
	size := w.Record
	if size == 0 {
		size = out.MaxRecord()
	}
	count, delays := w.Bytes/int64(size), w.Pressure.Delays()
	counts, turn := make([]int64, w.Channels), w.turn()
	sum := make(chan uint64)
	go func() { sum <- in.addUp(size, counts, delays) }()
	start := time.Now()
	w.writeNumbered(out, count, size, turn)
	total := <-sum
	elapsed := time.Since(start)
	m = moved{rate: float64(count) * float64(size) / elapsed.Seconds(), stalls: delays.Stalls()}
	m.busiest = float64(slices.Max(counts)) / float64(count)
	m.flow.add(out)
	return m, errors.Join(wrong(total, triangle(count)), arena.Close())
}

func (w wire) writeNumbered(out *outlet, count int64, size int, turn func(n uint64) uint64) {
	hot := make([]byte, hotBytes)
	sub := 0
	out.Expect(size)
	for n, flushed := int64(0), int64(0); n < count; {
		out.ready()
		for range out.Sure(int(min(64, count-n))) { // as in a job, a run of records
			if turn != nil {
				sub = int(turn(uint64(n)))
			}
			b := out.Extend(sub, size)
			copy(b, hot)
			binary.LittleEndian.PutUint64(b, uint64(n))
			if sub++; sub == w.Channels {
				sub = 0
			}
			n++
		}
		if n-flushed >= 1024 {
			flushed = n
			out.flush()
		}
	}
	out.finish()
}

// addUp adds up the numbers that records of a size begin with. It counts them by channel.
func (in *inlet) addUp(size int, counts []int64, delays *pressure.Delays) (sum uint64) {
	in.each(func(channel int, payload []byte) {
		n := len(payload) / size
		for range n {
			sum += binary.LittleEndian.Uint64(payload)
			payload = payload[size:]
		}
		counts[channel] += int64(n)
		delays.Wait(n, 0, 1, nil)
	})
	return sum
}

// handBytes is the same by hand: slices of 32 KiB over a Go channel, and empty ones back.
func (w wire) handBytes() (float64, error) {
	const batch = 32 << 10
	size := w.Record
	if size == 0 {
		size = batch
	}
	count := w.Bytes / int64(size)
	full, free := make(chan []byte, 10), make(chan []byte, 12)
	for range 11 {
		free <- make([]byte, 0, batch)
	}
	sum := make(chan uint64)
	go func() {
		total := uint64(0)
		for b := range full {
			for r := b; len(r) > 0; r = r[size:] {
				total += binary.LittleEndian.Uint64(r)
			}
			free <- b[:0]
		}
		sum <- total
	}()
	hot := make([]byte, hotBytes)
	open := make([]byte, 0, batch)
	start := time.Now()
	for n := range count {
		if len(open)+size > batch {
			full <- open
			open = <-free
		}
		at := len(open)
		open = open[:at+size]
		copy(open[at:], hot)
		binary.LittleEndian.PutUint64(open[at:], uint64(n))
	}
	full <- open
	close(full)
	total := <-sum
	elapsed := time.Since(start)
	return float64(count) * float64(size) / elapsed.Seconds(), wrong(total, triangle(count))
}

// rateOf is payload bytes per second of a transfer, over any transport.
func (w wire) rateOf(ctx context.Context) (float64, error) {
	m, err := w.moveOver(ctx)
	return m.rate, err
}

// moveOver is move, over any transport.
func (w wire) moveOver(ctx context.Context) (m moved, err error) {
	if w.Transport == local {
		return w.localMove()
	}
	if w, err = w.over(w.Transport); err != nil {
		return m, err
	}
	return w.move(ctx)
}

// limitOf is that of the baseline of its transport.
func (w wire) limitOf(ctx context.Context) (float64, error) {
	if w.Transport == local {
		return w.handBytes()
	}
	w, err := w.over(w.Transport)
	if err != nil {
		return 0, err
	}
	rate, _, err := w.raw(ctx, 32<<10)
	return rate, err
}

// sizeName writes a number of bytes.
func sizeName(n int) string {
	if n >= 1024 {
		return fmt.Sprintf("%dKiB", n/1024)
	}
	return fmt.Sprintf("%dB", n)
}
