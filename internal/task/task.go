package task

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// Config is everything a subtask runs. Either Source or Gate is set.
type Config struct {
	Name    string // of the chain, for errors: "read -> split"
	Context *operators.Context
	Ops     []operators.Operator // from first to last

	Source   operators.Puller
	Gate     *netstack.Gate
	Inputs   []operators.Input // one per input of the gate
	Parker   *Parker
	Restored [][]byte // positions for the source, if Restore is set
	Restore  bool

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
	pace       pace
	timer      *time.Timer
	cursor     cursor
	assemblers []*record.Assembler // by channel; nil until a record spans buffers
	ended      bool                // the source has no more
	records    uint64

	// atomic
	cancelled atomic.Bool
	stopping  atomic.Bool
	account   perf.TimeAccount
	stats     counters
}

// New returns a subtask. Nothing runs before Run.
func New(cfg Config, clock perf.Clock) *Task {
	t := &Task{cfg: cfg, ctx: cfg.Context, clock: clock, pace: newPace()}
	if cfg.Gate != nil {
		t.assemblers = make([]*record.Assembler, cfg.Gate.Channels())
	}
	for _, op := range cfg.Ops {
		if i, ok := op.(operators.Idler); ok {
			t.idlers = append(t.idlers, i)
		}
	}
	t.timer = time.NewTimer(time.Hour)
	t.timer.Stop()
	return t
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
	defer func() {
		t.stats.records.Store(t.records)
		t.account.Stop(t.clock.Now())
	}()
	err = t.guard(t.run)
	if err = errors.Join(err, t.guard(func() error { return t.close(err == nil) })); err == nil {
		return nil
	}
	t.abandon()
	if errors.Is(err, ErrCancelled) {
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
	if err := t.loop(); err != nil {
		return err
	}
	for _, op := range t.cfg.Ops {
		if err := op.Finish(); err != nil {
			return err
		}
		if t.ctx.Err() != nil {
			return t.ctx.Err()
		}
	}
	return nil
}

// open opens the operators from last to first, so that each may use what follows.
func (t *Task) open() error {
	for i := len(t.cfg.Ops) - 1; i >= 0; i-- {
		if err := t.cfg.Ops[i].Open(t.ctx); err != nil {
			return err
		}
	}
	if t.cfg.Source == nil {
		return nil
	}
	return t.cfg.Source.Open(operators.SourceContext{
		Context: t.ctx, Restored: t.cfg.Restore, Splits: t.cfg.Restored, Wake: t.cfg.Parker.Wake,
	})
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
			p.Finish()
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
