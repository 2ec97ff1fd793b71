package ckpt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// killed is a counting job that is killed and restarted again and again. Every time it
// goes on from the same checkpoint.
type killed struct {
	cfg     Config
	links   int // increments that follow the full checkpoint
	process bool

	dir        string
	copy       *copied          // the process that is going to be killed
	here       *overtake.Handle // or the job in this process
	stop       context.CancelFunc
	closeStore func() error    // nil: none is open
	times      []time.Duration // of all recoveries
	begun      []time.Duration // from the start of the process to the first record
	used       []time.Duration // processor time until then
}

func (k *killed) counting() counting {
	return counting{
		Keys: k.cfg.keys(), Window: k.cfg.window(), Parallelism: k.cfg.Parallelism, Mode: overtake.Aligned, Dir: filepath.Join(k.dir, "store"),
		More: k.cfg.Pressure,
	}.ready()
}

// ready fills the state and takes the checkpoints, in a process of its own.
func (k *killed) ready(ctx context.Context) (err error) {
	if k.dir != "" {
		return nil
	}
	if k.dir, err = os.MkdirTemp(k.cfg.Folder, "overtake-recovery-"); err != nil {
		return err
	}
	if k.copy, err = startCopy(ctx, task{Role: roleCount, Counting: k.counting(), Fill: true, Links: k.links}); err != nil {
		return err
	}
	if _, err = k.copy.hear("ready"); err != nil || k.process {
		return err
	}
	k.copy.kill()
	k.copy = nil
	_, err = k.run(ctx)
	return err
}

// recover kills what runs and returns the time until the first new record.
func (k *killed) recover(ctx context.Context) (time.Duration, error) {
	if err := k.ready(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	if !k.process {
		before := bench.CPUTime()
		k.end()
		at, err := k.run(ctx)
		k.note(at.Sub(began), at.Sub(began), bench.CPUTime()-before)
		if err == nil {
			err = k.checked()
		}
		return at.Sub(began), err
	}
	k.copy.kill()
	var err error
	if k.copy, err = startCopy(ctx, task{Role: roleCount, Counting: k.counting()}); err != nil {
		return 0, err
	}
	text, err := k.copy.hear("first")
	took := time.Since(began)
	var own, used time.Duration
	if err == nil {
		_, err = fmt.Sscan(text, (*int64)(&own), (*int64)(&used))
	}
	k.note(took, own, used)
	if err == nil {
		err = k.checked()
	}
	return took, err
}

func (k *killed) note(took, own, used time.Duration) {
	k.times, k.begun, k.used = append(k.times, took), append(k.begun, own), append(k.used, used)
}

// run starts the job in this process and waits for its first record.
func (k *killed) run(ctx context.Context) (at time.Time, err error) {
	first := make(chan time.Time, 1)
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k.stop = cancel
	c := k.counting()
	if k.closeStore, err = c.slow(); err != nil {
		return at, err
	}
	if k.here, err = c.job(firstRecord(func() { first <- time.Now() })).Start(own); err != nil {
		return at, err
	}
	select {
	case at = <-first:
	case <-k.here.Done():
		err = ended(k.here)
	case <-ctx.Done():
		err = ctx.Err()
	}
	return at, err
}

// end ends the job in this process, at once.
func (k *killed) end() {
	if k.stop != nil {
		k.stop()
	}
	if k.here != nil {
		_ = k.here.Wait() // it was cancelled
	}
	if k.closeStore != nil {
		_ = k.closeStore() // the job has ended already
		k.closeStore = nil
	}
}

// checked returns what is wrong with the account of the job that runs here or in the copy.
func (k *killed) checked() error {
	if k.here != nil {
		return bench.Accounts(k.here)
	}
	_, err := k.copy.hear("accounted")
	return err
}

func (k *killed) close() error {
	if k.dir == "" {
		return nil
	}
	k.copy.kill()
	k.end()
	return os.RemoveAll(k.dir)
}

// firstRecord is a sink that reports its first record.
func firstRecord(report func()) overtake.Sink[count] {
	var once sync.Once
	var done atomic.Bool
	return memory.Func(func(count) error {
		if !done.Load() {
			once.Do(report)
			done.Store(true)
		}
		return nil
	})
}

// read reads all files of the store: nothing can restore them faster.
func (k *killed) read(ctx context.Context, _ bench.Size) (float64, error) {
	if err := k.ready(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	err := filepath.WalkDir(filepath.Join(k.dir, "store"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreMissing(err)
		}
		f, err := os.Open(path)
		if err != nil {
			return ignoreMissing(err)
		}
		defer f.Close()
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{k.cfg.Pressure.Reader(ctx, f)}, make([]byte, 1<<20))
		return err
	})
	return time.Since(began).Seconds(), err
}

// ignoreMissing drops the error of a file that the running job has deleted.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// count is the copy's part.
func (t task) count(ctx context.Context) error {
	began := time.Now()
	c := t.Counting.ready()
	first := make(chan struct{})
	sink := memory.Discard[count]()
	if t.Fill {
		c.pressed = new(atomic.Bool) // never: it would take too long
	} else {
		sink = firstRecord(func() {
			say("first", fmt.Sprint(int64(time.Since(began)), int64(bench.CPUTime())))
			close(first)
		})
	}
	closeStore, err := c.slow()
	if err != nil {
		return err
	}
	h, err := c.job(sink).Start(ctx)
	if err != nil {
		return errors.Join(err, closeStore())
	}
	defer closeStore() // after an end that was not asked for
	if t.Fill {
		if err := c.fill(ctx, h, t.Links); err != nil {
			return err
		}
		say("ready", "")
		return h.Wait()
	}
	select {
	case <-first:
		if err := bench.Accounts(h); err != nil {
			return err
		}
		say("accounted", "")
	case <-h.Done():
	}
	return h.Wait()
}

// slow puts a slow disk before the store, if there is to be one.
func (c *counting) slow() (closeStore func() error, err error) {
	if c.More.SlowDisk == 0 {
		return func() error { return nil }, nil
	}
	store, err := checkpoint.OpenDir(c.Dir, checkpoint.Options{})
	if err != nil {
		return nil, err
	}
	c.store = c.More.Store(store)
	return store.Close, nil
}

// fill waits for all keys, and takes the checkpoints.
func (c counting) fill(ctx context.Context, h *overtake.Handle, links int) error {
	if err := c.loaded(ctx, h); err != nil {
		return err
	}
	for range 1 + links {
		if _, err := h.Checkpoint(ctx); err != nil {
			return err
		}
		c.base.Add(c.Window)
		next := counted(h) + 4*c.Window
		if err := until(ctx, h, func() bool { return counted(h) >= next }); err != nil {
			return err
		}
	}
	return nil
}
