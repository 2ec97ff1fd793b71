package operators

// Processor is user code with keyed state: one instance per subtask, called for
// one record at a time.
type Processor[K comparable, I, O any] interface {
	// Open is called before the first record; it gets the state handles.
	Open(ctx *KeyedContext) error
	// Process takes one record. Key and v are lent. State handles refer to key.
	Process(key K, v I, out Collector[O]) error
}

// Finisher is a Processor that has something to say when the input ends.
type Finisher[O any] interface {
	Finish(out Collector[O]) error
}

// KeyedContext is the Context of a Processor: its state handles refer to the key
// of the current record.
type KeyedContext struct {
	*Context
	key   []byte
	names map[string]bool
}

// ValueState is one value of V per key. A key that was never Set has the zero
// value.
type ValueState[V any] struct {
	ctx   *KeyedContext
	table Table[V]
	keep  func(V) V
}

// NewValueState returns the state handle of that name, for a Processor's Open.
func NewValueState[V any](ctx *KeyedContext, name string) (*ValueState[V], error) {
	keep, err := Cloner[V]()
	if err != nil {
		return nil, err
	}
	if ctx.names[name] {
		return nil, errStateName(name)
	}
	ctx.names[name] = true
	return &ValueState[V]{ctx: ctx, table: newTable[V](), keep: keep}, nil
}

// Get returns the value of the current key, and whether it was ever set.
func (s *ValueState[V]) Get() (v V, ok bool) {
	if acc := s.table.Get(s.ctx.Hash, s.ctx.key); acc != nil {
		return *acc, true
	}
	return v, false
}

// Set sets the value of the current key. The value is copied, views included.
func (s *ValueState[V]) Set(v V) {
	acc, _, err := s.table.Upsert(s.ctx.Hash, s.ctx.key)
	if err != nil {
		s.ctx.Fail(err)
		return
	}
	*acc = s.keep(v)
}

// Clear forgets the value of the current key.
func (s *ValueState[V]) Clear() { s.table.Delete(s.ctx.Hash, s.ctx.key) }

type process[K comparable, I, O any] struct {
	keyer[K, I]
	ctx  *KeyedContext
	user Processor[K, I, O]
	next Collector[O]
}

// Process returns the operator that runs a Processor.
func Process[K comparable, I, O any](key func(I) K, user Processor[K, I, O], next Collector[O]) (Transform[I], error) {
	k, err := newKeyer(key)
	return &process[K, I, O]{keyer: k, user: user, next: next}, err
}

// Open implements Operator.
func (p *process[K, I, O]) Open(ctx *Context) error {
	p.ctx = &KeyedContext{Context: ctx, names: map[string]bool{}}
	return p.user.Open(p.ctx)
}

// Collect implements Collector.
func (p *process[K, I, O]) Collect(v I) {
	key, bytes := p.encode(v)
	p.ctx.key = bytes
	if err := p.user.Process(key, v, p.next); err != nil {
		p.ctx.Fail(err)
	}
}

// Finish implements Operator.
func (p *process[K, I, O]) Finish() error {
	if f, ok := p.user.(Finisher[O]); ok {
		return f.Finish(p.next)
	}
	return nil
}

// Close implements Operator.
func (p *process[K, I, O]) Close(bool) error { return nil }
