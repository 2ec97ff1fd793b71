package task

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/statecow"
)

// Config is everything a subtask runs. Either Source or Gate is set.
type Config struct {
	Name    string // of the chain, for errors: "read -> split"
	Context *operators.Context
	Ops     []operators.Operator // from first to last

	Source      operators.Puller
	Gate        *netstack.Gate
	Inputs      []operators.Input // one per input of the gate
	Parker      *Parker
	Checkpoints *Checkpoints // nil: none are taken

	Markers *Markers // nil: latency markers are neither sent nor taken

	InFlightTime time.Duration // in which data in flight is to be consumed; 0 or less: no matter

	MaxRecord int // bytes of a record that spans several buffers
}

// Parker is the subtask's waiting place.
type Parker = netstack.Parker

// ErrCancelled is returned by Run after Cancel.
var ErrCancelled = errors.New("task: cancelled")

// Task is one subtask. Run it on a goroutine of its own; Cancel, Stop and Stats
// may be called from any.
type Task struct {
	// constant
	cfg    Config
	ctx    *operators.Context
	clock  perf.Clock
	idlers []operators.Idler

	// subtask goroutine
	pace          pace
	timer         *time.Timer
	cursor        cursor
	assemblers    []*record.Assembler // by channel; nil until a record spans buffers
	ended         bool                // the source has no more
	restored      Restored
	time          eventTime
	processing    processingTime
	record        record.Record
	lending       lending
	ahead         *statecow.Map // whose entries are fetched before their records come; may be nil
	replay        []InFlight    // records of the restored checkpoint, before any new ones
	markers       *markers      // nil: none pass
	records       uint64
	yielded       time.Duration // when others were last let have the processor
	flushed       time.Duration // when outputs were last flushed
	behind        []bool        // by output: it has kept a buffer behind others
	woken         time.Duration // when the last wait has ended, if nothing was done since; else 0
	waiting       bool          // the last Step has said so
	batch         batch
	checkpoints   *checkpoints
	checkpointers []operators.Checkpointer

	// atomic
	cancelled atomic.Bool
	stopping  atomic.Bool
	mail      mailbox
	account   perf.TimeAccount
	stats     published
}

// New returns a subtask. Nothing runs before Run.
func New(cfg Config, clock perf.Clock) *Task {
	t := &Task{cfg: cfg, ctx: cfg.Context, clock: clock, pace: newPace()}
	t.stats.init()
	if cfg.Gate != nil {
		t.assemblers = make([]*record.Assembler, cfg.Gate.Channels())
	}
	for _, op := range cfg.Ops {
		if i, ok := op.(operators.Idler); ok {
			t.idlers = append(t.idlers, i)
		}
		if c, ok := op.(operators.Checkpointer); ok {
			t.checkpointers = append(t.checkpointers, c)
		}
	}
	if cfg.Checkpoints != nil {
		t.checkpoints = newCheckpoints(cfg.Checkpoints, cfg.Gate)
		t.ctx.SetStores(cfg.Checkpoints.Stores)
	}
	t.initTime()
	t.initTimers()
	t.initMarkers()
	t.timer = time.NewTimer(time.Hour)
	t.timer.Stop()
	return t
}

// Restore says what the subtask goes on from. It must be called before Run, if at all,
// and only on a subtask with checkpoints.
func (t *Task) Restore(r Restored, last protocol.ID) {
	t.restored = r
	t.cfg.Checkpoints.Stores.restored = r
	t.cfg.Checkpoints.Last = last
	t.checkpoints = newCheckpoints(t.cfg.Checkpoints, t.cfg.Gate)
	// What is left of channels of another parallelism is behind no channel's watermark: it
	// goes before the watermarks that have followed it since.
	t.replay = slices.Clone(r.InFlight)
	slices.SortStableFunc(t.replay, func(a, b InFlight) int {
		return min(t.channelOf(a), 0) - min(t.channelOf(b), 0)
	})
}

// Cancel makes Run return ErrCancelled soon, dropping what is in flight.
func (t *Task) Cancel() {
	t.cancelled.Store(true)
	for _, p := range t.ctx.Partitions() {
		p.Cancel()
	}
	t.cfg.Parker.Wake()
}

// Stop makes a source subtask end as if its source had: everything it has read
// is processed. It does nothing to other subtasks.
func (t *Task) Stop() {
	t.stopping.Store(true)
	t.cfg.Parker.Wake()
}

// Run runs the subtask to its end. It returns nil when all input was processed,
// ErrCancelled, or an *operators.Error. It has given back all buffers by then,
// except those that receivers have yet to take.
func (t *Task) Run() (err error) {
	t.account.Start(t.clock.Now())
	return t.End(t.guard(t.run))
}

// Begin begins a Run in pieces, for a simulation that decides when each subtask
// runs, with Step and End. It opens the subtask; on error, End must be called.
func (t *Task) Begin() error {
	t.account.Start(t.clock.Now())
	return t.guard(t.open)
}

// Step runs the subtask until it would wait or let others run. After AwaitInput or
// AwaitOutput, the next one is due when the Parker is notified, or at Due. After Over or
// an error, End must be called.
func (t *Task) Step() (next Next, err error) {
	if t.waiting {
		t.waiting = false
		t.busy()
	}
	err = t.guard(func() (err error) {
		wait := true
		switch next, err = t.step(); {
		case err != nil:
		case next == AwaitInput:
			wait, err = t.idle()
		case next == AwaitOutput:
			wait, err = t.full()
		}
		if !wait {
			next = Ready
		}
		t.waiting = next == AwaitInput || next == AwaitOutput
		return err
	})
	return next, err
}

// End closes the subtask, whose steps have ended with err, and returns what Run does.
func (t *Task) End(err error) error {
	if t.lending.state.Load() != owned {
		t.takeBack() // the user's code has panicked
	}
	stopped := errors.Is(err, errStopped)
	if stopped {
		err = nil
	}
	whole := err == nil && !stopped
	err = errors.Join(err, t.guard(func() error { return t.close(whole) }), t.settle())
	now := t.clock.Now()
	t.processed(now)
	t.publish(now)
	t.account.Stop(now)
	if err == nil && whole {
		return nil
	}
	t.abandon()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrCancelled), t.cancelled.Load() && errors.Is(err, context.Canceled):
		return ErrCancelled
	}
	return t.located(err)
}

// guard turns a panic of user code into an error.
func (t *Task) guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", operators.ErrPanic, r, debug.Stack())
		}
	}()
	return f()
}

// located fills in where an error happened.
func (t *Task) located(err error) error {
	var e *operators.Error
	if errors.As(err, &e) && e.Operator != "" {
		return err
	}
	return &operators.Error{Operator: t.cfg.Name, Subtask: t.ctx.Subtask, Err: err}
}

func (t *Task) run() error {
	if err := t.open(); err != nil {
		return err
	}
	return t.loop()
}

// open opens the operators from last to first, so that each may use what follows.
func (t *Task) open() error {
	for i := len(t.cfg.Ops) - 1; i >= 0; i-- {
		if t.checkpoints != nil {
			t.ctx.Enter(t.checkpoints.UIDs[i])
		}
		if err := t.cfg.Ops[i].Open(t.ctx); err != nil {
			return err
		}
	}
	if t.checkpoints != nil {
		t.ctx.SetUrgent(t.urgent)
		t.restoreMarks()
		t.sayAgain()
		for _, p := range t.ctx.Partitions() {
			t.checkpoints.subs += p.Subpartitions()
		}
	}
	if t.markers != nil {
		t.markers.due = t.clock.Now() + t.markers.Interval
	}
	t.initLending()
	t.initPrefetch()
	if t.cfg.Source == nil {
		return nil
	}
	src := operators.SourceContext{Context: t.ctx, Wake: t.cfg.Parker.Wake}
	if t.checkpoints != nil { // a source that the checkpoint does not know begins anew
		own := t.restored.Operators[t.checkpoints.Source]
		src.Restored, src.Splits = own.Saved, own.Splits
		if err := t.restoreSplits(own.SplitMarks); err != nil {
			return err
		}
		t.sayAgain()
	}
	return t.cfg.Source.Open(src)
}

// close closes everything and, when all went well, tells the receivers that the
// partition has ended.
func (t *Task) close(ok bool) error {
	var errs []error
	if t.cfg.Source != nil {
		errs = append(errs, t.cfg.Source.Close())
	}
	for i := len(t.cfg.Ops) - 1; i >= 0; i-- {
		errs = append(errs, t.cfg.Ops[i].Close(ok))
	}
	if ok && errors.Join(errs...) == nil && !t.cancelled.Load() {
		for _, p := range t.ctx.Partitions() {
			if t.checkpoints == nil { // else linger has
				p.Finish()
			}
			p.Close()
		}
		t.closeInput()
	}
	return errors.Join(errs...)
}

// abandon drops everything in flight after an error.
func (t *Task) abandon() {
	for _, p := range t.ctx.Partitions() {
		p.Cancel()
		p.Close()
	}
	t.closeInput()
}

func (t *Task) closeInput() {
	t.cursor.close()
	if t.cfg.Gate != nil {
		t.cfg.Gate.Close()
	}
}
