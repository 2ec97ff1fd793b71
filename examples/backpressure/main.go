// Command backpressure shows what a slow sink does: the source is held back within
// the memory of the network buffers, nothing is dropped, and the job says where the
// time goes.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

func main() {
	if err := run(os.Stdout, 5_000, time.Millisecond); err != nil {
		log.Fatal(err)
	}
}

// run sends count numbers to a sink that takes so long for each.
func run(out io.Writer, count uint64, delay time.Duration) error {
	job := overtake.NewJob("backpressure", overtake.Options{
		Parallelism: 1,
		Network:     overtake.Network{Memory: 256 << 10, BufferSize: 4 << 10},
	})
	numbers := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: count}), overtake.WithName("fast"))
	received := uint64(0)
	overtake.To(numbers.Rebalance(), memory.Func(func(uint64) error {
		time.Sleep(delay)
		received++
		return nil
	}), overtake.WithName("slow"))

	h, err := job.Start(context.Background())
	if err != nil {
		return err
	}
	if err := h.Wait(); err != nil {
		return err
	}
	for _, s := range h.Stats() {
		fmt.Fprintf(out, "%-5s %d records, busy %v, idle %v, backpressured %v\n", s.Name, s.Records,
			s.Busy.Round(time.Millisecond), s.Idle.Round(time.Millisecond), s.Backpressured.Round(time.Millisecond))
	}
	fmt.Fprintf(out, "sent %d, received %d\n", count, received)
	return nil
}
