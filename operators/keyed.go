package operators

// keyer encodes the key of the current record.
type keyer[K comparable, T any] struct {
	key   func(T) K
	codec Codec[K]
	bytes []byte // the current key, encoded; reused
}

func newKeyer[K comparable, T any](key func(T) K) (keyer[K, T], error) {
	codec, err := CodecFor[K]()
	return keyer[K, T]{key: key, codec: codec}, err
}

func (k *keyer[K, T]) encode(v T) (K, []byte) {
	key := k.key(v)
	k.bytes = k.codec.Append(k.bytes[:0], key)
	return key, k.bytes
}

// Aggregator says how to gather records of T in an accumulator of A, and what
// result of O to make of it.
type Aggregator[T, A, O any] struct {
	// Add adds a record to the accumulator, which is zero for a key's first record.
	// Clone what is kept of v beyond the call.
	Add func(acc *A, v T)
	// Result makes the result. It must not change the accumulator.
	Result func(acc *A) O
}

type aggregate[K comparable, T, A, O any] struct {
	keyer[K, T]
	ctx   *Context
	agg   Aggregator[T, A, O]
	final bool
	table Table[A]
	next  Collector[Pair[K, O]]
}

// Aggregate returns an operator that keeps an accumulator per key. It passes on
// the result after every record, or if final is set, once per key at the end.
func Aggregate[K comparable, T, A, O any](key func(T) K, agg Aggregator[T, A, O], final bool, next Collector[Pair[K, O]]) (Transform[T], error) {
	k, err := newKeyer(key)
	return &aggregate[K, T, A, O]{keyer: k, agg: agg, final: final, next: next}, err
}

// Open implements Operator.
func (a *aggregate[K, T, A, O]) Open(ctx *Context) error {
	a.ctx, a.table = ctx, newTable[A]()
	return nil
}

// Collect implements Collector.
func (a *aggregate[K, T, A, O]) Collect(v T) {
	key, bytes := a.encode(v)
	acc, _, err := a.table.Upsert(a.ctx.Hash, bytes)
	if err != nil {
		a.ctx.Fail(err)
		return
	}
	a.agg.Add(acc, v)
	if !a.final {
		a.next.Collect(Pair[K, O]{Key: key, Value: a.agg.Result(acc)})
	}
}

// Finish implements Operator.
func (a *aggregate[K, T, A, O]) Finish() error {
	if !a.final {
		return nil
	}
	return finish(a.ctx, a.table, a.codec, func(key K, acc *A) {
		a.next.Collect(Pair[K, O]{Key: key, Value: a.agg.Result(acc)})
	})
}

// Close implements Operator.
func (a *aggregate[K, T, A, O]) Close(bool) error {
	a.table = nil
	return nil
}

// finish passes every key and accumulator to emit, as results of no one record.
func finish[K comparable, A any](ctx *Context, table Table[A], codec Codec[K], emit func(K, *A)) (err error) {
	ctx.HasTime, ctx.Time, ctx.Hash = false, 0, 0
	table.Each(func(bytes []byte, acc *A) bool {
		var key K
		if key, err = codec.Decode(bytes); err == nil {
			emit(key, acc)
			err = ctx.Err()
		}
		return err == nil
	})
	return err
}

type reduce[K comparable, T any] struct {
	keyer[K, T]
	ctx   *Context
	f     func(acc, v T) T
	keep  func(T) T
	final bool
	table Table[T]
	next  Collector[T]
}

// Reduce returns an operator that combines the records of each key into one. It
// passes that on after every record, or if final is set, once per key at the end.
func Reduce[K comparable, T any](key func(T) K, f func(acc, v T) T, final bool, next Collector[T]) (Transform[T], error) {
	k, err := newKeyer(key)
	if err != nil {
		return nil, err
	}
	keep, err := Cloner[T]()
	return &reduce[K, T]{keyer: k, f: f, keep: keep, final: final, next: next}, err
}

// Open implements Operator.
func (r *reduce[K, T]) Open(ctx *Context) error {
	r.ctx, r.table = ctx, newTable[T]()
	return nil
}

// Collect implements Collector.
func (r *reduce[K, T]) Collect(v T) {
	_, bytes := r.encode(v)
	acc, fresh, err := r.table.Upsert(r.ctx.Hash, bytes)
	if err != nil {
		r.ctx.Fail(err)
		return
	}
	if !fresh {
		v = r.f(*acc, v)
	}
	*acc = r.keep(v)
	if !r.final {
		r.next.Collect(*acc)
	}
}

// Finish implements Operator.
func (r *reduce[K, T]) Finish() error {
	if !r.final {
		return nil
	}
	return finish(r.ctx, r.table, r.codec, func(_ K, acc *T) { r.next.Collect(*acc) })
}

// Close implements Operator.
func (r *reduce[K, T]) Close(bool) error {
	r.table = nil
	return nil
}
