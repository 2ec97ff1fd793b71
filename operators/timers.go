package operators

import (
	"errors"

	"github.com/overtake-stream/overtake/statecow"
)

// TimerProcessor is a Processor that sets timers of event time.
type TimerProcessor[K comparable, O any] interface {
	// OnTimer is called when the watermark has reached the time of a timer of the key.
	// State handles refer to the key, which is lent.
	OnTimer(key K, at int64, out Collector[O]) error
}

// ProcessingTimerProcessor is a Processor that sets timers of processing time.
type ProcessingTimerProcessor[K comparable, O any] interface {
	// OnProcessingTimer is called when the clock has reached the time of a timer of the
	// key, or the input has ended. State handles refer to the key, which is lent. What it
	// collects has no event time.
	OnProcessingTimer(key K, at int64, out Collector[O]) error
}

// ErrTimers says that timers were used by a Processor without OnTimer, or in its Open;
// ErrProcessingTimers the same of timers of processing time and OnProcessingTimer.
var (
	ErrTimers           = errors.New("timers need a Processor with OnTimer, and a current key")
	ErrProcessingTimers = errors.New("timers of processing time need a Processor with OnProcessingTimer, and a current key")
)

// keyTimers are the timers of a Processor.
type keyTimers struct {
	event      *statecow.Timers // nil: the Processor has no OnTimer
	processing *statecow.Timers // nil: it has no OnProcessingTimer
	last       bool             // those of processing time are fired as the input has ended
}

// Names of the queues. They are in checkpoints.
const (
	eventQueue      = "timers"
	processingQueue = "timers of processing time"
)

// open finds the timers of the queues that are wanted among the restored state.
func (t *keyTimers) open(m *statecow.Map, event, processing bool) (err error) {
	if event {
		if t.event, err = statecow.NewTimers(m, eventQueue); err != nil {
			return err
		}
	}
	if processing {
		t.processing, err = statecow.NewTimers(m, processingQueue)
	}
	return err
}

func (t *keyTimers) close() (err error) {
	for _, q := range []*statecow.Timers{t.event, t.processing} {
		if q != nil {
			err = errors.Join(err, q.Close())
		}
	}
	return err
}

// SetTimer sets a timer of the current key in the current namespace, in Unix
// milliseconds of event time. Setting it again does nothing. One in the past fires
// when the watermark moves next.
func (c *KeyedContext) SetTimer(at int64) error {
	if c.timers.event == nil || c.key == nil {
		return ErrTimers
	}
	_, err := c.timers.event.Add(at, c.Hash, c.key, nil)
	return err
}

// DeleteTimer removes a timer of the current key, if it is set.
func (c *KeyedContext) DeleteTimer(at int64) error {
	if c.timers.event == nil || c.key == nil {
		return ErrTimers
	}
	_, err := c.timers.event.Remove(at, c.Hash, c.key, nil)
	return err
}

// SetProcessingTimer sets a timer of the current key, in Unix milliseconds of processing
// time (see Context.ProcessingTime). Setting it again does nothing. Timers fire between
// two records, in the order of their times, and those of one time in an order that is the
// same after a restore. They are in checkpoints: what has become due meanwhile fires soon
// after a restore.
//
// When the input has ended, all that are left fire at once, each once: those set by a timer
// that fires then are dropped.
func (c *KeyedContext) SetProcessingTimer(at int64) error {
	if c.timers.processing == nil || c.key == nil {
		return ErrProcessingTimers
	}
	if c.timers.last {
		return nil
	}
	_, err := c.timers.processing.Add(at, c.Hash, c.key, nil)
	return err
}

// DeleteProcessingTimer removes a timer of the current key, if it is set.
func (c *KeyedContext) DeleteProcessingTimer(at int64) error {
	if c.timers.processing == nil || c.key == nil {
		return ErrProcessingTimers
	}
	_, err := c.timers.processing.Remove(at, c.Hash, c.key, nil)
	return err
}

// openTimers finds the timers among the restored state.
func (p *process[K, I, O]) openTimers() error {
	event, isEvent := p.user.(TimerProcessor[K, O])
	processing, isProcessing := p.user.(ProcessingTimerProcessor[K, O])
	if !isEvent && !isProcessing {
		return nil
	}
	if isEvent {
		p.onTimer = event.OnTimer
	}
	if isProcessing {
		p.onProcessing = processing.OnProcessingTimer
	}
	m, ok := p.keyed.Store.(*statecow.Map)
	if !ok { // then timers have a map of their own
		var err error
		if p.timers, err = p.ctx.keyed("timers", true); err != nil {
			return err
		}
		if err := p.timers.Restore(); err != nil {
			return err
		}
		m = p.timers.Store.(*statecow.Map)
	}
	return p.ctx.timers.open(m, isEvent, isProcessing)
}

// OnWatermark implements Timed.
func (p *process[K, I, O]) OnWatermark(watermark int64) (done bool, err error) {
	if p.ctx.timers.event == nil {
		return true, nil
	}
	return p.run(p.ctx.timers.event, watermark, p.fire)
}

// OnProcessingTime implements Clocked.
func (p *process[K, I, O]) OnProcessingTime(now int64) (done bool, err error) {
	t := &p.ctx.timers
	if t.processing == nil {
		return true, nil
	}
	t.last = now == LastWatermark
	done, err = p.run(t.processing, now, p.fireProcessing)
	t.last = false
	return done, err
}

// ProcessingDue implements Clocked.
func (p *process[K, I, O]) ProcessingDue() (at int64, ok bool) {
	if p.ctx.timers.processing == nil {
		return 0, false
	}
	return p.ctx.timers.processing.Next()
}

// run fires the timers of a queue, until it is done or has to pause.
func (p *process[K, I, O]) run(q *statecow.Timers, now int64, fire func(statecow.Timer) error) (done bool, err error) {
	err = q.Fire(now, fire)
	if errors.Is(err, errPause) {
		return false, nil
	}
	return true, err
}

// fire runs one timer of event time.
func (p *process[K, I, O]) fire(t statecow.Timer) error {
	p.ctx.Time, p.ctx.HasTime = t.At, true
	return p.fired(t, p.onTimer)
}

// fireProcessing runs one timer of processing time.
func (p *process[K, I, O]) fireProcessing(t statecow.Timer) error {
	p.ctx.Time, p.ctx.HasTime = 0, false
	return p.fired(t, p.onProcessing)
}

// fired calls the user for a timer. Between two, the subtask may take a barrier.
func (p *process[K, I, O]) fired(t statecow.Timer, call func(K, int64, Collector[O]) error) error {
	key, err := p.codec.Decode(t.Key)
	if err != nil {
		return err
	}
	p.ctx.key, p.ctx.Hash = t.Key, t.Hash
	p.ctx.states.SetKey(t.Hash, t.Key)
	p.ctx.fired = true
	if err := call(key, t.At, p.next); err != nil {
		return err
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.ctx.pause() {
		return errPause
	}
	return nil
}
