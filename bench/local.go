package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// localRecord is the size of a record of the cases in one process, in bytes.
const localRecord = 100

// localSize is what such a record takes of a buffer.
const localSize = record.HeaderSize + (localRecord+7)&^7

// wrong says that a measurement did not move what it should have.
func wrong(got, want uint64) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("bench: the records add up to %d, want %d", got, want)
}

// triangle is 0 + 1 + … + n-1.
func triangle(n int64) uint64 { return uint64(n) * uint64(n-1) / 2 }

// perRecord times f over n records.
func perRecord(n int64, f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return time.Since(start).Seconds() / float64(n), err
}

// fill makes record number n at b: a payload that begins with it. All sides write
// every byte, and the number after the rest: copying what has just been written in
// smaller pieces would stall the processor.
func fill(b []byte, payload *[localRecord]byte, n uint64) {
	copy(b, payload[:])
	binary.LittleEndian.PutUint64(b, n)
}

// spread is the hash that chooses among receivers, the same for all sides.
func spread(n uint64) uint32 { return operators.HashInt(n) }

// batches moves n records through partition and gates to so many receivers, chosen
// by hash.
func batches(receivers int) Measure {
	return func(_ context.Context, size Size) (float64, error) {
		n := size.Of(20_000_000)
		arena, err := bufferpool.New(bufferpool.Options{Prefault: true})
		if err != nil {
			return 0, err
		}
		out, err := newOutlet(arena, netstack.PartitionOptions{Subpartitions: receivers})
		if err != nil {
			return 0, err
		}
		out.Expect(localSize)
		var sum atomic.Uint64
		var readers sync.WaitGroup
		for i := range receivers {
			in, err := newInlet(netstack.GateOptions{Inputs: []int{1}})
			if err != nil {
				return 0, err
			}
			netstack.ConnectLocal(out.Partition, i, in.Gate, 0)
			readers.Go(func() { sum.Add(readRecords(in)) })
		}
		var payload [localRecord]byte
		t, err := perRecord(n, func() error {
			for i, end := uint64(0), uint64(n); i < end; {
				out.ready()
				for range out.Sure(int(min(64, end-i))) { // as in a job, a run of records
					hash, sub := uint32(0), 0
					if receivers > 1 {
						hash = spread(i)
						sub = operators.KeyGroup(hash, receivers)
					}
					b := out.Extend(sub, localSize)
					record.Seal(b, record.Data, hash, false, 0, localRecord)
					fill(b[record.HeaderSize:], &payload, i)
					i++
				}
			}
			out.finish()
			readers.Wait()
			return nil
		})
		return t, errors.Join(err, wrong(sum.Load(), triangle(n)), arena.Close())
	}
}

func readRecords(in *inlet) (sum uint64) {
	var r record.Record
	in.each(func(_ int, payload []byte) {
		it := record.Over(payload) // before the loop, which would copy it each turn
		for {
			ok, err := it.Next(&r)
			if !ok || err != nil {
				return
			}
			sum += binary.LittleEndian.Uint64(r.Payload)
		}
	})
	return sum
}

// sliceChannel is the baseline of one to one: a Go channel of slices, one a record.
func sliceChannel(_ context.Context, size Size) (float64, error) {
	n := size.Of(10_000_000)
	c := make(chan []byte, 1024)
	done := make(chan uint64)
	go func() {
		sum := uint64(0)
		for b := range c {
			sum += binary.LittleEndian.Uint64(b)
		}
		done <- sum
	}()
	var payload [localRecord]byte
	backing := make([]byte, 4096*localRecord) // reused in turn: the channel is shorter
	return perRecord(n, func() error {
		for i := range n {
			b := backing[i%4096*localRecord:][:localRecord]
			fill(b, &payload, uint64(i))
			c <- b
		}
		close(c)
		return wrong(<-done, triangle(n))
	})
}

type pooled struct{ data [localRecord]byte }

// pointerChannels is the baseline of one to many: a channel of pooled pointers to
// each receiver.
func pointerChannels(receivers int) Measure {
	return func(_ context.Context, size Size) (float64, error) {
		n := size.Of(5_000_000)
		var payload [localRecord]byte
		pool := sync.Pool{New: func() any { return new(pooled) }}
		var readers sync.WaitGroup
		var total atomic.Uint64
		chans := make([]chan *pooled, receivers)
		for i := range chans {
			chans[i] = make(chan *pooled, 1024)
			readers.Go(func() {
				sum := uint64(0)
				for p := range chans[i] {
					sum += binary.LittleEndian.Uint64(p.data[:])
					pool.Put(p)
				}
				total.Add(sum)
			})
		}
		return perRecord(n, func() error {
			for i := range uint64(n) {
				p := pool.Get().(*pooled)
				fill(p.data[:], &payload, i)
				chans[operators.KeyGroup(spread(i), receivers)] <- p
			}
			for _, c := range chans {
				close(c)
			}
			readers.Wait()
			return wrong(total.Load(), triangle(n))
		})
	}
}

// handBatches is what a careful programmer writes: 32 KiB slices of records over a
// channel, and empty ones back.
func handBatches(receivers int) Measure {
	return func(_ context.Context, size Size) (float64, error) {
		n := size.Of(20_000_000)
		const batch = 32 << 10
		var readers sync.WaitGroup
		var total atomic.Uint64
		full, free := make([]chan []byte, receivers), make([]chan []byte, receivers)
		open := make([][]byte, receivers)
		for i := range full {
			full[i], free[i] = make(chan []byte, 10), make(chan []byte, 12)
			for range 11 {
				free[i] <- make([]byte, 0, batch)
			}
			open[i] = make([]byte, 0, batch)
			readers.Go(func() {
				sum := uint64(0)
				for b := range full[i] {
					for r := b; len(r) > 0; r = r[4+localRecord:] {
						sum += binary.LittleEndian.Uint64(r[4:])
					}
					free[i] <- b[:0]
				}
				total.Add(sum)
			})
		}
		var payload [localRecord]byte
		return perRecord(n, func() error {
			for i := range uint64(n) {
				to := 0
				if receivers > 1 {
					to = operators.KeyGroup(spread(i), receivers)
				}
				b := open[to]
				if len(b)+4+localRecord > batch {
					full[to] <- b
					b = <-free[to]
				}
				at := len(b)
				b = b[:at+4+localRecord]
				binary.LittleEndian.PutUint32(b[at:], localRecord)
				fill(b[at+4:], &payload, i)
				open[to] = b
			}
			for i, c := range full {
				c <- open[i]
				close(c)
			}
			readers.Wait()
			return wrong(total.Load(), triangle(n))
		})
	}
}

// poolCycle gets a buffer from a pool and gives it back.
func poolCycle(_ context.Context, size Size) (float64, error) {
	arena, err := bufferpool.New(bufferpool.Options{SegmentSize: 256, Budget: 64 << 10}) // small: builds with invariants fill it with poison
	if err != nil {
		return 0, err
	}
	pool, err := arena.NewPool(bufferpool.PoolOptions{Name: "bench", Min: 16, Max: 64})
	if err != nil {
		return 0, err
	}
	n := size.Of(50_000_000)
	t, _ := perRecord(n, func() error {
		for range n {
			b, _ := pool.Get()
			pool.Recycle(b)
		}
		return nil
	})
	pool.Close()
	return t, arena.Close()
}

// mutexLIFO is its baseline: a list of free segments under a mutex.
func mutexLIFO(_ context.Context, size Size) (float64, error) {
	var mu sync.Mutex
	free := make([]uint32, 64)
	n := size.Of(50_000_000)
	return perRecord(n, func() error {
		for range n {
			mu.Lock()
			i := free[len(free)-1]
			free = free[:len(free)-1]
			mu.Unlock()
			mu.Lock()
			free = append(free, i)
			mu.Unlock()
		}
		return nil
	})
}

const hops = 8

type counting struct{ sum uint64 }

// Collect implements operators.Collector.
func (c *counting) Collect(v uint64) { c.sum += v }

// chainHop is the time of one map operator in a fused chain.
func chainHop(_ context.Context, size Size) (float64, error) {
	var end counting
	var chain operators.Collector[uint64] = &end
	for range hops {
		chain = operators.Map(func(v uint64) uint64 { return v + 1 }, chain)
	}
	n := size.Of(50_000_000)
	out := operators.NewOutput(&operators.Context{}, chain)
	return perRecord(n*hops, func() error {
		out.Allow(int(n))
		for i := uint64(0); i < uint64(n); {
			batch, _ := out.Batch() // as a source of numbers does
			if len(batch) == 0 {
				out.Collect(i)
				i++
				continue
			}
			for k := range batch {
				batch[k] = i
				i++
			}
			out.CollectBatch(len(batch), false)
		}
		return wrong(end.sum, triangle(n)+hops*uint64(n))
	})
}
