package overtake

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/statecow"
)

// Options configures a job. Zero fields mean the defaults. Every worker of a
// cluster must be given the same ones, except Cluster.Index.
type Options struct {
	// Parallelism is the number of subtasks of operators that do not say otherwise,
	// over all workers. Default: GOMAXPROCS.
	Parallelism int
	// MaxParallelism is the number of key groups: an upper bound for the parallelism
	// of keyed operators, for the whole life of the job's state. Default 128.
	MaxParallelism int

	// StateMemory bounds the keyed state of one operator in one subtask, in bytes.
	// Default 4 GiB, at most 32 GiB.
	StateMemory int64

	// StateDir, if set, is a directory where keyed state is kept that need not fit in
	// memory. It is scratch: what it holds is deleted when the job begins and ends. It
	// should be on a local disk. Timers stay in memory. Needs Checkpoints.
	StateDir string

	// LatencyMarkers, if set, is how often each subtask of a source sends a marker through
	// the job that measures how long records take: see Handle.Latencies. At least 1 ms;
	// default 0: none are sent, and nothing is measured.
	LatencyMarkers time.Duration

	Network     Network
	Cluster     Cluster
	Checkpoints Checkpoints
	Restart     Restart

	// Clock says what processing time is, for timers and windows of processing time and for
	// state that expires with it: for tests. It is called by many goroutines, and may stand
	// still or jump; a subtask with timers then looks at it every millisecond. Default:
	// time.Now.
	Clock func() time.Time

	// Log receives what the job has to say. Default: nothing is logged.
	Log *slog.Logger
}

// Network sizes the exchange.
type Network struct {
	Memory     int64 // bytes of all network buffers of a worker, never exceeded; default 64 MiB
	BufferSize int   // bytes of one buffer, a power of two; default 32 KiB
	Exclusive  int   // buffers that each channel has for itself; default 2
	Floating   int   // buffers that the channels of a gate or partition share; default 8; negative: none
	Overdraft  int   // buffers beyond that to finish one record's output; default 64; negative: none
	// FlushInterval bounds how long a record waits in a partly filled buffer while
	// its channel is idle. Negative: no longer than the subtask is busy. Default 1 ms.
	FlushInterval time.Duration
	// InFlightTime is the time in which records in flight are to be consumed under
	// backpressure: buffers are filled less far then, so that barriers, and records
	// behind them, wait less. Default off, with Auto checkpoints 1 s; negative: off.
	InFlightTime time.Duration
	MaxRecord    int // bytes of an encoded record; default 64 MiB
}

// Cluster names the workers that run the job together. The zero Cluster is this
// process alone.
type Cluster struct {
	// Workers has the address of every worker, "host:port", or the path of a socket
	// with Network "unix". All workers run the same program with the same job.
	Workers []string
	// Index says which of Workers this process is.
	Index int
	// Processes > 1, instead of Workers, makes this process start that many minus one
	// copies of itself, with the same arguments, and be worker 0 among them. They
	// talk over loopback and end with it.
	Processes int

	Network           string        // "tcp" (default) or "unix"
	TLS               *tls.Config   // TLS 1.3 with certificates on both sides
	InsecurePlaintext bool          // allow plain text to other than loopback addresses
	ConnectTimeout    time.Duration // for all workers to be there; default 60 s
}

// Limits of Options.
const (
	MaxParallelism = 1 << 15
	MaxWorkers     = 256
)

func (o Options) withDefaults() Options {
	set(&o.Parallelism, runtime.GOMAXPROCS(0))
	set(&o.MaxParallelism, max(128, o.Parallelism))
	set(&o.StateMemory, 4<<30)
	set(&o.Network.Memory, 64<<20)
	set(&o.Network.BufferSize, 32<<10)
	set(&o.Network.Exclusive, netstack.DefaultExclusive)
	set(&o.Network.Floating, netstack.DefaultFloating)
	set(&o.Network.Overdraft, netstack.DefaultOverdraft)
	set(&o.Network.FlushInterval, netstack.DefaultFlushInterval)
	set(&o.Network.MaxRecord, 64<<20)
	if o.Checkpoints.Mode == Auto {
		set(&o.Network.InFlightTime, time.Second)
	}
	set(&o.Cluster.ConnectTimeout, 60*time.Second)
	o.Checkpoints, o.Restart = o.Checkpoints.withDefaults(), o.Restart.withDefaults()
	if o.Cluster.Network == "" {
		o.Cluster.Network = "tcp"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports all problems at once.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("overtake: options: "+format, args...))
	}
	if o.Parallelism < 1 || o.Parallelism > MaxParallelism {
		bad("Parallelism %d, want 1 to %d", o.Parallelism, MaxParallelism)
	}
	if o.MaxParallelism < o.Parallelism || o.MaxParallelism > MaxParallelism {
		bad("MaxParallelism %d, want Parallelism (%d) to %d", o.MaxParallelism, o.Parallelism, MaxParallelism)
	}
	if o.Network.Exclusive < 1 {
		bad("Network.Exclusive %d, want at least 1", o.Network.Exclusive)
	}
	arena := bufferpool.Options{SegmentSize: o.Network.BufferSize, Budget: o.Network.Memory}
	if o.StateMemory < statecow.MinBudget || o.StateMemory > statecow.MaxBudget {
		bad("StateMemory %d, want %d to %d bytes", o.StateMemory, statecow.MinBudget, int64(statecow.MaxBudget))
	}
	if o.StateDir != "" && !o.Checkpoints.Enabled() {
		bad("StateDir needs Checkpoints: set Checkpoints.Dir")
	}
	if d := o.LatencyMarkers; d < 0 || d > 0 && d < time.Millisecond {
		bad("LatencyMarkers %v, want at least 1ms, or 0 for none", d)
	}
	workers := max(len(o.Cluster.Workers), o.Cluster.Processes)
	errs = append(errs, arena.Validate(), o.Cluster.validate(), o.Checkpoints.validate(workers, o.Cluster.Index))
	return errors.Join(errs...)
}

func (c Cluster) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("overtake: options: "+format, args...))
	}
	if len(c.Workers) > 0 && c.Processes > 1 {
		bad("Cluster.Workers and Cluster.Processes exclude each other")
	}
	if c.Processes < 0 {
		bad("Cluster.Processes %d is negative", c.Processes)
	}
	if n := max(len(c.Workers), c.Processes); n > MaxWorkers {
		bad("%d workers, want at most %d", n, MaxWorkers)
	}
	if len(c.Workers) > 0 && (c.Index < 0 || c.Index >= len(c.Workers)) {
		bad("Cluster.Index %d, want 0 to %d", c.Index, len(c.Workers)-1)
	}
	if c.Network != "tcp" && c.Network != "unix" {
		bad("Cluster.Network %q, want tcp or unix", c.Network)
	}
	return errors.Join(errs...)
}
