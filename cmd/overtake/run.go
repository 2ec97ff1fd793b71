package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/workload"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/generate"
)

type runCmd struct {
	Wordcount    wordcountCmd    `cmd:"" help:"Count the words of files."`
	Totals       totalsCmd       `cmd:"" help:"Add up generated amounts by key."`
	Throughput   throughputCmd   `cmd:"" help:"Move generated records through two shuffles."`
	Backpressure backpressureCmd `cmd:"" help:"Feed a sink that is slower than its source."`
}

// jobFlags are the flags of every job.
type jobFlags struct {
	Parallelism    int           `short:"p" help:"Subtasks of each operator, over all workers. Default: one for each processor." placeholder:"N"`
	MaxParallelism int           `help:"Key groups. Default: 128." placeholder:"N"`
	Processes      int           `help:"Run in N processes on this machine, connected over loopback TCP." placeholder:"N"`
	Cluster        []string      `help:"Addresses of all workers, the same list on each." placeholder:"HOST:PORT,..."`
	Index          int           `help:"Which of --cluster this process is, from 0."`
	Insecure       bool          `help:"Allow unencrypted connections to other than loopback addresses."`
	Memory         bytesize      `help:"Memory of all network buffers of a worker." default:"64MiB"`
	BufferSize     bytesize      `help:"Size of a network buffer, a power of two." default:"32KiB"`
	FlushInterval  time.Duration `help:"How long a record may wait for its buffer to fill." default:"1ms"`
}

// options also shares the processors out: processes on one machine do best with an
// equal part of them each.
func (f jobFlags) options(e *env) overtake.Options {
	if f.Parallelism == 0 {
		f.Parallelism = runtime.GOMAXPROCS(0)
	}
	if f.Processes > 1 {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/f.Processes))
	}
	return overtake.Options{
		Parallelism: f.Parallelism, MaxParallelism: f.MaxParallelism,
		Network: overtake.Network{Memory: int64(f.Memory), BufferSize: int(f.BufferSize), FlushInterval: f.FlushInterval},
		Cluster: overtake.Cluster{Processes: f.Processes, Workers: f.Cluster, Index: f.Index, InsecurePlaintext: f.Insecure},
		Log:     e.log,
	}
}

type wordcountCmd struct {
	jobFlags
	Input  string `required:"" help:"Folder or file to read." placeholder:"PATH"`
	Glob   string `help:"Which files below it: * within a name, ** for any folders." default:"**"`
	Output string `required:"" help:"File to write: a line \"word<TAB>count\" for each word." placeholder:"FILE"`
}

// Run runs the job.
func (c *wordcountCmd) Run(e *env) error {
	return runJob(e, workload.WordCount{Root: c.Input, Glob: c.Glob, Output: c.Output}.Job(c.options(e)))
}

// loadFlags are the flags of jobs with generated records.
type loadFlags struct {
	Count uint64  `help:"Records to generate; 0: until interrupted." default:"10000000"`
	Rate  float64 `help:"Records per second; 0: as many as possible." default:"0"`
}

func (f loadFlags) count() uint64 {
	if f.Count == 0 {
		return generate.Forever
	}
	return f.Count
}

type totalsCmd struct {
	jobFlags
	loadFlags
	Keys   uint64 `help:"Number of keys." default:"1000"`
	Output string `help:"File to write: a line \"key<TAB>total\" for each key. Default: standard output." placeholder:"FILE"`
}

// Run runs the job.
func (c *totalsCmd) Run(e *env) error {
	if c.Keys == 0 {
		return fmt.Errorf("--keys 0: there must be at least one key")
	}
	sink := files.Print[overtake.Pair[uint64, int64]](os.Stdout)
	if c.Output != "" {
		sink = files.TSV[overtake.Pair[uint64, int64]](c.Output)
	}
	return runJob(e, workload.Totals{Count: c.count(), Rate: c.Rate, Keys: c.Keys, Sink: sink}.Job(c.options(e)))
}

type throughputCmd struct {
	jobFlags
	loadFlags
}

// Run runs the job.
func (c *throughputCmd) Run(e *env) error {
	return runJob(e, workload.Throughput{Count: c.count(), Rate: c.Rate}.Job(c.options(e)))
}

type backpressureCmd struct {
	jobFlags
	loadFlags
	SlowSink time.Duration `help:"Time that the sink takes for a record." default:"1ms"`
}

// Run runs the job.
func (c *backpressureCmd) Run(e *env) error {
	return runJob(e, workload.Backpressure{Count: c.count(), Rate: c.Rate, Delay: c.SlowSink}.Job(c.options(e)))
}

// runJob runs a job to its end. The first interrupt makes its sources end, so that
// all they have read is processed; the second stops it at once.
func runJob(e *env, job *overtake.Job) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	h, err := job.Start(ctx)
	if err != nil {
		return err
	}
	show := newProgress(e, h)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for drained := false; ; {
		select {
		case <-h.Done():
			show.end()
			return h.Wait()
		case <-tick.C:
			show.update()
		case s := <-signals:
			if drained {
				cancel()
				continue
			}
			drained = true
			e.log.Info("finishing what has been read; interrupt again to stop at once", "signal", s.String())
			h.Drain()
		}
	}
}

// bytesize is a number of bytes, written like 32KiB.
type bytesize int64

// UnmarshalText parses a size: a number and one of B, KiB, MiB, GiB.
func (b *bytesize) UnmarshalText(text []byte) error {
	s := string(text)
	for _, unit := range []struct {
		suffix string
		shift  uint
	}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}} {
		digits, ok := strings.CutSuffix(s, unit.suffix)
		if !ok {
			continue
		}
		var n int64
		if _, err := fmt.Sscanf(digits+"|", "%d|", &n); err != nil || n < 1 || n > 1<<(62-unit.shift) {
			break
		}
		*b = bytesize(n << unit.shift)
		return nil
	}
	return fmt.Errorf("%q is not a size: write a number and B, KiB, MiB or GiB, as in 64MiB", s)
}
