package operators

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/overtake-stream/overtake/statecow"
)

// Processor is user code with keyed state: one instance per subtask, called for
// one record at a time.
type Processor[K comparable, I, O any] interface {
	// Open is called before the first record; it gets the state handles.
	Open(ctx *KeyedContext) error
	// Process takes one record. Key and v are lent. State handles refer to key.
	Process(key K, v I, out Collector[O]) error
}

// Finisher is a Processor that has something to say when the input ends. A subtask
// that had finished before a checkpoint does not finish again after a restore at the
// same parallelism.
type Finisher[O any] interface {
	Finish(out Collector[O]) error
}

// KeyedContext is the Context of a Processor: its state handles refer to the key
// of the current record.
type KeyedContext struct {
	*Context
	states *statecow.States
	timers keyTimers
	key    []byte // of the current record or timer
}

// States are the named states of the operator, for the constructors of state handles
// in package statecow.
func (c *KeyedContext) States() *statecow.States { return c.states }

// Handles of keyed state. All refer to the current key.
type (
	ValueState[V any]             = statecow.ValueState[V]
	ListState[V any]              = statecow.ListState[V]
	MapState[K comparable, V any] = statecow.MapState[K, V]
	ReducingState[V any]          = statecow.ReducingState[V]
	TTL                           = statecow.TTL
)

// NewValueState returns the handle of a state with one value per key, for a
// Processor's Open.
func NewValueState[V any](ctx *KeyedContext, name string, ttl ...TTL) (*ValueState[V], error) {
	codec, err := CodecFor[V]()
	if err != nil {
		return nil, err
	}
	return statecow.NewValueState(ctx.states, name, codec, first(ttl))
}

// NewListState returns the handle of a state with a list of values per key, for a
// Processor's Open.
func NewListState[V any](ctx *KeyedContext, name string, ttl ...TTL) (*ListState[V], error) {
	codec, err := CodecFor[V]()
	if err != nil {
		return nil, err
	}
	return statecow.NewListState(ctx.states, name, codec, first(ttl))
}

// NewMapState returns the handle of a state with a map of values per key, for a
// Processor's Open.
func NewMapState[K comparable, V any](ctx *KeyedContext, name string, ttl ...TTL) (*MapState[K, V], error) {
	keys, err := CodecFor[K]()
	if err != nil {
		return nil, err
	}
	values, err := CodecFor[V]()
	if err != nil {
		return nil, err
	}
	return statecow.NewMapState(ctx.states, name, keys, values, first(ttl))
}

// NewReducingState returns the handle of a state that combines the values of a key
// into one, for a Processor's Open.
func NewReducingState[V any](ctx *KeyedContext, name string, reduce func(acc, v V) V, ttl ...TTL) (*ReducingState[V], error) {
	codec, err := CodecFor[V]()
	if err != nil {
		return nil, err
	}
	return statecow.NewReducingState(ctx.states, name, codec, reduce, first(ttl))
}

func first(ttl []TTL) (t TTL) {
	if len(ttl) > 0 {
		t = ttl[0]
	}
	return t
}

type process[K comparable, I, O any] struct {
	keyer[K, I]
	ctx   *KeyedContext
	keyed *KeyedStore
	user  Processor[K, I, O]
	next  Collector[O]

	timers                *KeyedStore // if they are not in keyed
	onTimer, onProcessing func(key K, at int64, out Collector[O]) error
}

// Process returns the operator that runs a Processor.
func Process[K comparable, I, O any](key func(I) K, user Processor[K, I, O], next Collector[O]) (Transform[I], error) {
	k, err := newKeyer(key)
	return &process[K, I, O]{keyer: k, user: user, next: next}, err
}

// Open implements Operator. States are registered before they are restored, so that
// their deadlines are known.
func (p *process[K, I, O]) Open(ctx *Context) (err error) {
	if p.keyed, err = ctx.keyed("states", false); err != nil {
		return err
	}
	p.ctx = &KeyedContext{Context: ctx}
	if p.ctx.states, err = statecow.NewStates(p.keyed.Store, max(ctx.MaxParallel, 1), ctx); err != nil {
		return err
	}
	if err := p.user.Open(p.ctx); err != nil {
		return err
	}
	if err := p.verify(); err != nil {
		return err
	}
	if err := p.keyed.Restore(); err != nil {
		return err
	}
	return p.openTimers()
}

// verify compares the states with those of the checkpoint.
func (p *process[K, I, O]) verify() error {
	now, err := json.Marshal(p.ctx.states.List())
	p.keyed.Layout = string(now)
	if err != nil || p.keyed.Migrate != nil {
		return err
	}
	for _, saved := range p.keyed.Saved {
		var list []statecow.StateInfo
		if err := json.Unmarshal([]byte(saved), &list); err != nil {
			return fmt.Errorf("description of the states in the checkpoint: %w", err)
		}
		if err := p.ctx.states.Verify(list); err != nil {
			return &LayoutError{State: "states", Saved: saved, Now: p.keyed.Layout, Err: err}
		}
	}
	return nil
}

// Collect implements Collector.
func (p *process[K, I, O]) Collect(v I) {
	key, bytes := p.encode(v)
	p.ctx.key = bytes
	p.ctx.states.SetKey(p.ctx.Hash, bytes)
	if err := p.user.Process(key, v, p.next); err != nil {
		p.ctx.Fail(err)
	}
}

func (p *process[K, I, O]) call() func(I) { return p.Collect }

// Finish implements Operator.
func (p *process[K, I, O]) Finish() error {
	if f, ok := p.user.(Finisher[O]); ok {
		return f.Finish(p.next)
	}
	return nil
}

// Close implements Operator.
func (p *process[K, I, O]) Close(bool) error {
	if p.keyed == nil {
		return nil
	}
	var err error
	if p.ctx != nil {
		err = p.ctx.timers.close()
	}
	return errors.Join(err, p.release())
}

func (p *process[K, I, O]) release() error {
	if p.ctx == nil {
		return nil
	}
	return p.ctx.release(p.keyed)
}
