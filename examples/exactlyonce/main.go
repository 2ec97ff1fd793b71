// Command exactlyonce counts what shoppers spend, in a job that fails again and again. It
// goes on from its latest checkpoint each time, and in the end every purchase has
// counted once. Then it does the same again with another number of subtasks, from a
// savepoint.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/generate"
)

// Purchase is what a shopper has spent, in cents.
type Purchase struct {
	Shopper uint64
	Cents   int64
}

const shoppers = 1000

func main() {
	dir, err := os.MkdirTemp("", "exactlyonce")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(os.Stdout, dir, 2_000_000); err != nil {
		log.Fatal(err)
	}
}

// spend is a job that sums up the purchases of each shopper. check may fail it.
func spend(dir string, parallelism int, from string, count uint64, check func() error) *overtake.Job {
	job := overtake.NewJob("spend", overtake.Options{
		Parallelism: parallelism,
		Checkpoints: overtake.Checkpoints{
			Dir:      filepath.Join(dir, fmt.Sprint("checkpoints-", parallelism)),
			Interval: 20 * time.Millisecond, Mode: overtake.Unaligned, From: from,
		},
		Restart: overtake.Restart{Attempts: 100, Delay: time.Millisecond},
	})
	purchases := overtake.From(job, generate.Source(func(n uint64) Purchase {
		return Purchase{Shopper: n * 7 % shoppers, Cents: int64(n % 100)}
	}, generate.Options{Count: count}), overtake.WithUID("purchases"))
	checked := overtake.TryMap(purchases, func(_ *overtake.Context, p Purchase) (Purchase, error) { return p, check() })
	sums := overtake.Aggregate(overtake.KeyBy(checked, func(p Purchase) uint64 { return p.Shopper }),
		overtake.Aggregator[Purchase, int64, int64]{
			Add:    func(sum *int64, p Purchase) { *sum += p.Cents },
			Result: func(sum *int64) int64 { return *sum },
		}, overtake.FinalOnly(), overtake.WithUID("sums"))
	overtake.To(sums, files.TSV[overtake.Pair[uint64, int64]](filepath.Join(dir, "sums.tsv")), overtake.WithUID("file"))
	return job
}

var errPowerCut = errors.New("somebody pulled the plug")

func run(out io.Writer, dir string, count uint64) error {
	ctx := context.Background()
	var seen atomic.Uint64
	plug := func() error { // fails once in a while
		if seen.Add(1)%(count/8) == 0 {
			return errPowerCut
		}
		return nil
	}
	h, err := spend(dir, 2, "", count, plug).Start(ctx)
	if err != nil {
		return err
	}
	for h.Restarts() < 2 { // let it suffer for a while, then move it to more subtasks
		time.Sleep(time.Millisecond)
	}
	savepoint := filepath.Join(dir, "savepoint")
	if err := stop(ctx, h, savepoint); err != nil {
		return err
	}
	fmt.Fprintf(out, "stopped with a savepoint after %d restarts and %d checkpoints\n", h.Restarts(), len(h.Checkpoints()))
	fine := func() error { return nil }
	if err := spend(dir, 3, savepoint, count, fine).Run(ctx); err != nil {
		return err
	}
	return report(out, filepath.Join(dir, "sums.tsv"))
}

// stop stops the job with a savepoint, which may meet a failure, too.
func stop(ctx context.Context, h *overtake.Handle, savepoint string) error {
	for {
		err := h.StopWithSavepoint(ctx, savepoint, false)
		select {
		case <-h.Done():
			return errors.Join(err, h.Wait())
		default:
		}
		if err == nil {
			return h.Wait()
		}
	}
}

// report adds up what the job has written.
func report(out io.Writer, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	shoppers, total := 0, int64(0)
	for {
		var p Purchase
		if _, err := fmt.Fscanln(file, &p.Shopper, &p.Cents); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		shoppers++
		total += p.Cents
	}
	fmt.Fprintf(out, "%d shoppers have spent %d cents\n", shoppers, total)
	return nil
}
