// Command connector has a source and a sink of its own: a source of ticks that can
// go on from a position, and a sink that writes in batches.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/operators"
)

func main() {
	if err := run(os.Stdout, 10); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer, count uint64) error {
	job := overtake.NewJob("connector", overtake.Options{Parallelism: 1})
	squares := overtake.Map(overtake.From(job, ticks{count: count}), func(n uint64) uint64 { return n * n })
	overtake.To(squares, batches{w: out, size: 4})
	return job.Run(context.Background())
}

// ticks is a source of the numbers from 1 to count, in one subtask.
type ticks struct{ count uint64 }

// Open returns the reader of one subtask: all but the first have nothing to read.
func (s ticks) Open(ctx operators.SourceContext) (operators.Reader[uint64], error) {
	r := &ticker{last: s.count}
	switch {
	case ctx.Restored && len(ctx.Splits) == 1:
		r.next = binary.LittleEndian.Uint64(ctx.Splits[0])
	case !ctx.Restored && ctx.Subtask == 0:
		r.next = 1
	default:
		r.next = r.last + 1
	}
	return r, nil
}

type ticker struct{ next, last uint64 }

// Read collects as long as the job can take records, and never waits.
func (r *ticker) Read(out *operators.Output[uint64]) (operators.Status, error) {
	for ; r.next <= r.last; r.next++ {
		if !out.Ready() {
			return operators.More, nil
		}
		out.Collect(r.next)
	}
	return operators.Ended, nil
}

// Splits is where to go on: it would be part of a checkpoint.
func (r *ticker) Splits(dst [][]byte) ([][]byte, error) {
	if r.next > r.last {
		return dst, nil
	}
	return append(dst, binary.LittleEndian.AppendUint64(nil, r.next)), nil
}

// Close releases nothing here.
func (r *ticker) Close() error { return nil }

// batches is a sink that prints size records on a line.
type batches struct {
	w    io.Writer
	size int
}

// Single says that there is one writer in the whole job.
func (batches) Single() {}

// Open returns the writer.
func (s batches) Open(*operators.Context) (operators.Writer[uint64], error) {
	return &batchWriter{batches: s}, nil
}

type batchWriter struct {
	batches
	batch []uint64
}

// Write prints when the batch is full.
func (w *batchWriter) Write(v uint64) error {
	if w.batch = append(w.batch, v); len(w.batch) < w.size {
		return nil
	}
	return w.Flush()
}

// Flush prints what there is: the job calls it when it has nothing to do.
func (w *batchWriter) Flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w.w, w.batch)
	w.batch = w.batch[:0]
	return err
}

// Close has nothing to release: Flush was called before, if all went well.
func (w *batchWriter) Close(bool) error { return nil }
