package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/overtake-stream/overtake"
)

// jobFlags are the flags of every job.
type jobFlags struct {
	Parallelism    int           `short:"p" help:"Subtasks of each operator, over all workers. Default: one for each processor." placeholder:"N"`
	MaxParallelism int           `help:"Key groups, for the whole life of the job's state. Default: 128." placeholder:"N"`
	Processes      int           `help:"Run in N processes on this machine, connected over loopback TCP." placeholder:"N"`
	Cluster        []string      `help:"Addresses of all workers, the same list on each." placeholder:"HOST:PORT,..."`
	Index          int           `help:"Which of --cluster this process is, from 0."`
	Insecure       bool          `help:"Allow unencrypted connections to other than loopback addresses."`
	Memory         bytesize      `help:"Memory of all network buffers of a worker." default:"64MiB"`
	StateMemory    bytesize      `help:"Most memory of the keyed state of one operator in one subtask." default:"4GiB"`
	BufferSize     bytesize      `help:"Size of a network buffer, a power of two." default:"32KiB"`
	FlushInterval  time.Duration `help:"How long a record may wait for its buffer to fill." default:"1ms"`

	LatencyMarkers time.Duration `help:"How often sources send a marker through the job; at the end a line tells how long they took to each sink of this process. 0: never." placeholder:"100ms"`

	listenFlags
	checkpointFlags
	otherPressureFlags
	seedFlag
}

// Validate is called by kong.
func (f jobFlags) Validate() error {
	if f.SlowDisk > 0 && f.CheckpointDir == "" {
		return errors.New("--slow-disk needs --checkpoint-dir")
	}
	return errors.Join(f.checkpointFlags.Validate(), f.pressure().Validate())
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
		Parallelism: f.Parallelism, MaxParallelism: f.MaxParallelism, StateMemory: int64(f.StateMemory),
		Network:     overtake.Network{Memory: int64(f.Memory), BufferSize: int(f.BufferSize), FlushInterval: f.FlushInterval},
		Cluster:     overtake.Cluster{Processes: f.Processes, Workers: f.Cluster, Index: f.Index, InsecurePlaintext: f.Insecure},
		Checkpoints: f.checkpoints(), Restart: f.restart(),
		LatencyMarkers: f.LatencyMarkers, Log: e.log,
	}
}

// first reports whether this process is the first worker, which has the store.
func (f jobFlags) first() bool { return f.Index == 0 && !overtake.IsCopy() }

// checkpointFlags say when a job's state is made durable, and what becomes of it.
type checkpointFlags struct {
	CheckpointDir      string        `help:"Keep checkpoints in this folder, and go on from the latest one there. SIGTERM then takes one more and stops; an interrupt (Ctrl-C) finishes what has been read." placeholder:"DIR"`
	CheckpointInterval time.Duration `help:"From one checkpoint to the next; negative: only on request." default:"1s"`
	CheckpointMode     string        `help:"How barriers move: at-least-once, aligned, unaligned (they overtake records) or auto (they do after --alignment-timeout)." enum:"at-least-once,aligned,unaligned,auto" default:"aligned"`

	AlignmentTimeout         time.Duration `help:"When the barriers of an auto checkpoint begin to overtake." default:"100ms"`
	CheckpointTimeout        time.Duration `help:"When a checkpoint is given up." default:"10m"`
	MaxConcurrentCheckpoints int           `help:"Checkpoints under way at once. Default: 1." default:"1" placeholder:"N"`
	MinPause                 time.Duration `help:"Least time from the end of a checkpoint to the next. One at a time, then."`
	TolerableFailures        int           `help:"Checkpoints in a row that may fail; one more fails the job. Default: 0." placeholder:"N"`
	Retain                   int           `help:"Complete checkpoints to keep. Default: 1." default:"1" placeholder:"N"`

	From             string `help:"What to begin with: the folder of a savepoint, if there is no checkpoint yet; latest; or none, which ignores what there is." default:"latest" placeholder:"PATH|latest|none"`
	AllowNonRestored bool   `help:"Drop state that belongs to no operator of the job."`
	SavepointOnStop  string `help:"Make a savepoint in this new folder when SIGTERM stops the job." placeholder:"PATH"`
	Control          string `help:"Unix socket for \"overtake savepoint\". Default: \"control\" in the checkpoint folder." placeholder:"unix:PATH"`

	Restarts     int           `help:"Failures within a minute that are survived, by going on from the latest checkpoint. Default: 3." default:"3" placeholder:"N"`
	RestartDelay time.Duration `help:"Pause before going on." default:"1s"`
}

func (f checkpointFlags) checkpoints() overtake.Checkpoints {
	modes := map[string]overtake.CheckpointMode{
		"at-least-once": overtake.AtLeastOnce, "aligned": overtake.Aligned, "unaligned": overtake.Unaligned, "auto": overtake.Auto,
	}
	return overtake.Checkpoints{
		Dir: f.CheckpointDir, Interval: f.CheckpointInterval, MinPause: f.MinPause, Timeout: f.CheckpointTimeout,
		Mode: modes[f.CheckpointMode], AlignmentTimeout: f.AlignmentTimeout, MaxConcurrent: f.MaxConcurrentCheckpoints,
		TolerableFailures: f.TolerableFailures, Retain: f.Retain, From: f.From, AllowNonRestored: f.AllowNonRestored,
	}
}

// restart has negative numbers for none, since zero is the library's default.
func (f checkpointFlags) restart() overtake.Restart {
	r := overtake.Restart{Attempts: f.Restarts, Delay: f.RestartDelay}
	if r.Attempts == 0 {
		r.Attempts = -1
	}
	return r
}

// Validate is called by kong. It refuses what would be ignored.
func (f checkpointFlags) Validate() error {
	if f.CheckpointDir != "" {
		return nil
	}
	for flag, set := range map[string]bool{
		"from": f.From != "latest", "savepoint-on-stop": f.SavepointOnStop != "", "control": f.Control != "",
		"allow-non-restored": f.AllowNonRestored,
	} {
		if set {
			return fmt.Errorf("--%s needs --checkpoint-dir", flag)
		}
	}
	return nil
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
