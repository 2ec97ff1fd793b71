package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/operators"
)

// rounds is how often each key comes. The process is killed in the second round.
const rounds = 3

// slowly is how many milliseconds the second round takes at least, unless keys are few, so
// that the checkpoint and the failure are in it.
const slowly = 60_000

// flinkRecovery is the time from kill -9 of a process to the first output of the one that
// is started in its place. With a role, this is one of these processes.
func flinkRecovery(ctx context.Context, p Params, out func(Line)) error {
	if p["role"] != "" {
		return counting{keys: uint64(p.Int("keys")), resume: p["role"] == "resume", out: out}.run(ctx)
	}
	before, err := startCounter(ctx, p, "load")
	if err != nil {
		return err
	}
	taken, err := before.hear("checkpoint")
	if err != nil {
		return errors.Join(err, before.kill())
	}
	began := time.Now()
	if err := before.kill(); err != nil {
		return err
	}
	after, err := startCounter(ctx, p, "resume")
	if err != nil {
		return err
	}
	first, err := after.hear("first")
	took := time.Since(began)
	if err != nil {
		return errors.Join(err, after.kill())
	}
	done, err := after.hear("done")
	if err != nil {
		return errors.Join(err, after.kill())
	}
	memory, err := after.hear(rss)
	if err != nil {
		return errors.Join(err, after.kill())
	}
	out(Line{Metric: "first-output", Unit: "s", Value: took.Seconds(), Records: done.Records, Check: done.Check, Settings: first.Settings})
	out(taken)
	out(memory)
	return after.cmd.Wait()
}

// counter is a process that counts.
type counter struct {
	cmd   *exec.Cmd
	lines *json.Decoder
}

func startCounter(ctx context.Context, p Params, role string) (*counter, error) {
	prog, err := task{Peer: "flink", Case: "recovery", Params: p.with("role", role)}.program()
	if err != nil {
		return nil, err
	}
	c := &counter{cmd: exec.CommandContext(ctx, prog.argv[0])}
	c.cmd.SysProcAttr = bench.Offspring()
	c.cmd.Env, c.cmd.Stderr = append(os.Environ(), prog.env...), os.Stderr
	pipe, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = json.NewDecoder(pipe)
	return c, c.cmd.Start()
}

// hear waits for a figure.
func (c *counter) hear(metric string) (l Line, err error) {
	for l.Metric != metric {
		l = Line{}
		if err := c.lines.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return l, fmt.Errorf("the counting process ended before it said %q: %w", metric, err)
		}
		if l.Error != "" {
			return l, errors.New(l.Error)
		}
	}
	return l, nil
}

// kill is kill -9.
func (c *counter) kill() error {
	if err := c.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = c.cmd.Wait() // it was killed
	return nil
}

// counting is the job: all keys in turn, again and again, are counted.
type counting struct {
	keys   uint64
	resume bool // after the failure
	out    func(Line)
}

func (c counting) run(ctx context.Context) (err error) {
	dir, err := filepath.Abs("checkpoints")
	if err != nil {
		return err
	}
	store, err := checkpoint.OpenDir(dir, checkpoint.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	v := &verify{tally: newTally(), resume: c.resume}
	pair := workerPair{
		name: "recovery", store: store, blobs: func() (checkpoint.Blobs, error) { return checkpoint.OpenBlobs(dir, checkpoint.Options{}) },
		build: func(job *overtake.Job) {
			source := generate.Source(c.record, generate.Options{Count: rounds * c.keys})
			counts := overtake.Count(overtake.KeyBy(overtake.From(job, source, overtake.WithUID("numbers")),
				func(v keyed) uint64 { return v.Key }), overtake.WithUID("count"))
			overtake.To(counts, v, overtake.WithUID("verify"))
		},
	}
	pair.options.StateMemory = 16 << 30
	v.first = func() { c.out(Line{Metric: "first", Settings: pairSettings(pair.options)}) }
	r, err := pair.start(ctx)
	if err != nil {
		return err
	}
	if !c.resume {
		err = c.checkpoint(ctx, r, v.tally)
	}
	if err = errors.Join(err, r.wait()); err == nil {
		c.out(Line{Metric: "done", Records: v.records.Load(), Check: v.check()})
	}
	return err
}

// checkpoint takes one when all keys are there, and says so. The process is killed then.
func (c counting) checkpoint(ctx context.Context, r *runningPair, t *tally) error {
	for t.progress.Load() < int64(c.keys+c.keys/100) {
		if err := r.alive(); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	began := time.Now()
	_, err := r.handles[0].Checkpoint(ctx)
	if err == nil {
		c.out(Line{Metric: "checkpoint", Unit: "s", Value: time.Since(began).Seconds()})
	}
	return err
}

// record is record n. Those after the first round come slowly before the failure, so that
// it hits the second one.
func (c counting) record(n uint64) keyed {
	if n >= c.keys && !c.resume && n/parallelism%max(1, c.keys/parallelism/slowly) == 0 {
		time.Sleep(time.Millisecond)
	}
	return keyed{n % c.keys, n}
}

// verify is a sink that adds up hashes of the keys that have come for the last time.
type verify struct {
	*tally
	resume bool
	first  func() // the first output after the failure
	told   atomic.Bool
}

// Open implements operators.Sink.
func (v *verify) Open(*operators.Context) (operators.Writer[overtake.Pair[uint64, int64]], error) {
	return &verifyWriter{to: v, again: v.resume}, nil
}

type verifyWriter struct {
	to      *verify
	again   bool
	seen    int64
	records int64
	sum     uint64
}

// Write implements operators.Writer.
func (w *verifyWriter) Write(c overtake.Pair[uint64, int64]) error {
	if w.again {
		w.again = false
		if c.Value < 2 {
			return fmt.Errorf("key %d was counted before the failure, but begins anew", c.Key)
		}
		if w.to.told.CompareAndSwap(false, true) {
			w.to.first()
		}
	}
	if c.Value == rounds {
		w.records++
		w.sum += mix(c.Key)
	}
	if w.seen++; w.seen%1024 == 0 {
		w.to.progress.Add(1024)
	}
	return nil
}

// Flush implements operators.Writer.
func (w *verifyWriter) Flush() error { return nil }

// Close implements operators.Writer.
func (w *verifyWriter) Close(ok bool) error {
	if ok {
		w.to.add(w.records, w.sum)
	}
	return nil
}
