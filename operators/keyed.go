package operators

// keyer encodes the key of the current record.
type keyer[K comparable, T any] struct {
	key   func(T) K
	codec Codec[K]
	bytes []byte // the current key, encoded; reused
	fixed bool   // bytes is the memory of place
	place K
}

func newKeyer[K comparable, T any](key func(T) K) (keyer[K, T], error) {
	codec, err := CodecFor[K]()
	k := keyer[K, T]{key: key, codec: codec, fixed: err == nil && fixedSize(codec) >= 0}
	if !k.fixed {
		k.bytes = []byte{} // that of an empty key is not nil either, which would be none
	}
	return k, err
}

func (k *keyer[K, T]) encode(v T) (K, []byte) {
	key := k.key(v)
	return key, k.bytesOf(key)
}

// bytesOf lends the encoding of a key until it is called again.
func (k *keyer[K, T]) bytesOf(key K) []byte {
	if k.fixed {
		if k.place = key; k.bytes == nil {
			k.bytes = memory(&k.place)
		}
		return k.bytes
	}
	k.bytes = k.codec.Append(k.bytes[:0], key)
	return k.bytes
}

// Aggregator says how to gather records of T in an accumulator of A, and what
// result of O to make of it.
type Aggregator[T, A, O any] struct {
	// Add adds a record to the accumulator, which is zero for a key's first record.
	// What is kept of v is copied after the call.
	Add func(acc *A, v T)
	// Result makes the result. It must not change the accumulator.
	Result func(acc *A) O
	// Merge adds to an accumulator what another one has gathered, of later records; what is
	// kept of it is copied after the call. Session windows need it, nobody else does.
	Merge func(acc, other *A)
}

// gathered is the state of an operator with an accumulator per key.
type gathered[K comparable, T, A any] struct {
	keyer[K, T]
	ctx   *Context
	final bool
	table table[A]
	keyed *KeyedStore
}

// Open implements Operator.
func (g *gathered[K, T, A]) Open(ctx *Context) (err error) {
	g.ctx = ctx
	g.table, g.keyed, err = openTable[A](ctx, layoutOf(g.codec), g.final)
	return err
}

// finish passes every key and accumulator to emit, as results of no one record.
func (g *gathered[K, T, A]) finish(emit func(K, *A)) (err error) {
	if !g.final {
		return nil
	}
	g.ctx.HasTime, g.ctx.Time, g.ctx.Hash = false, 0, 0
	failed := g.table.each(func(bytes []byte, acc *A) bool {
		var key K
		if key, err = g.codec.Decode(bytes); err == nil {
			emit(key, acc)
			err = g.ctx.Err()
		}
		return err == nil
	})
	if err == nil {
		err = failed
	}
	return err
}

// Close implements Operator.
func (g *gathered[K, T, A]) Close(bool) error {
	if g.keyed == nil {
		return nil
	}
	g.table = table[A]{}
	return g.ctx.release(g.keyed)
}

type aggregate[K comparable, T, A, O any] struct {
	gathered[K, T, A]
	agg  Aggregator[T, A, O]
	next Collector[Pair[K, O]]
	pass func(Pair[K, O]) // what next.Collect does
}

// Aggregate returns an operator that keeps an accumulator per key. It passes on
// the result after every record, or if final is set, once per key at the end.
func Aggregate[K comparable, T, A, O any](key func(T) K, agg Aggregator[T, A, O], final bool, next Collector[Pair[K, O]]) (Transform[T], error) {
	k, err := newKeyer(key)
	return &aggregate[K, T, A, O]{gathered: gathered[K, T, A]{keyer: k, final: final}, agg: agg, next: next, pass: callOf(next)}, err
}

// Collect implements Collector.
func (a *aggregate[K, T, A, O]) Collect(v T) {
	hash := a.ctx.Hash
	key, acc, err := a.add(hash, v)
	if err == nil && !a.final {
		a.pass(Pair[K, O]{Key: key, Value: a.agg.Result(acc)})
	}
	if err == nil {
		err = a.table.save(hash, a.bytes)
	}
	if err != nil {
		a.ctx.Fail(err)
	}
}

// add adds a record to the accumulator of its key, which it lends until the next one.
func (a *aggregate[K, T, A, O]) add(hash uint32, v T) (key K, acc *A, err error) {
	key, bytes := a.encode(v)
	acc, _, err = a.table.upsert(hash, bytes)
	if err == nil {
		a.agg.Add(acc, v)
	}
	return key, acc, err
}

func (a *aggregate[K, T, A, O]) call() func(T) { return a.Collect }

// Finish implements Operator.
func (a *aggregate[K, T, A, O]) Finish() error {
	return a.finish(func(key K, acc *A) { a.pass(Pair[K, O]{Key: key, Value: a.agg.Result(acc)}) })
}

type reduce[K comparable, T any] struct {
	gathered[K, T, T]
	f    func(acc, v T) T
	next Collector[T]
	pass func(T) // what next.Collect does
}

// Reduce returns an operator that combines the records of each key into one. It
// passes that on after every record, or if final is set, once per key at the end.
func Reduce[K comparable, T any](key func(T) K, f func(acc, v T) T, final bool, next Collector[T]) (Transform[T], error) {
	k, err := newKeyer(key)
	return &reduce[K, T]{gathered: gathered[K, T, T]{keyer: k, final: final}, f: f, next: next, pass: callOf(next)}, err
}

// Collect implements Collector.
func (r *reduce[K, T]) Collect(v T) {
	hash := r.ctx.Hash
	acc, err := r.add(hash, v)
	if err == nil && !r.final {
		r.pass(*acc)
	}
	if err == nil {
		err = r.table.save(hash, r.bytes)
	}
	if err != nil {
		r.ctx.Fail(err)
	}
}

// add combines a record with the accumulator of its key, which it lends until the next one.
func (r *reduce[K, T]) add(hash uint32, v T) (*T, error) {
	_, bytes := r.encode(v)
	acc, fresh, err := r.table.upsert(hash, bytes)
	if err != nil {
		return nil, err
	}
	if !fresh {
		v = r.f(*acc, v)
	}
	*acc = v
	return acc, nil
}

func (r *reduce[K, T]) call() func(T) { return r.Collect }

// Finish implements Operator.
func (r *reduce[K, T]) Finish() error {
	return r.finish(func(_ K, acc *T) { r.pass(*acc) })
}
