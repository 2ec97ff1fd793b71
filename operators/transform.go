package operators

// caller is a Collector that has a plain function for what it does. Operators call that
// one: a method of a generic type, behind an interface, costs two calls more.
type caller[T any] interface{ call() func(T) }

// callOf returns the function that does what next.Collect does.
func callOf[T any](next Collector[T]) func(T) {
	if c, ok := next.(caller[T]); ok {
		return c.call()
	}
	return next.Collect
}

// mapper passes on f of every record. Its pass is a function, see caller.
type mapper[I, O any] struct {
	Stateless
	f    func(I) O
	next Collector[O]
	pass func(I)
}

// Collect implements Collector.
func (m *mapper[I, O]) Collect(v I) { m.pass(v) }

func (m *mapper[I, O]) call() func(I) { return m.pass }

// Map returns an operator that passes on f of every record.
func Map[I, O any](f func(I) O, next Collector[O]) Transform[I] {
	pass := callOf(next)
	return &mapper[I, O]{f: f, next: next, pass: func(v I) { pass(f(v)) }}
}

// Transform is an operator that takes records of I.
type Transform[I any] interface {
	Operator
	Collector[I]
}

type tryMapper[I, O any] struct {
	Stateless
	ctx  *Context
	f    func(*Context, I) (O, error)
	next Collector[O]
}

// Open implements Operator.
func (m *tryMapper[I, O]) Open(ctx *Context) error { m.ctx = ctx; return nil }

// Collect implements Collector.
func (m *tryMapper[I, O]) Collect(v I) {
	out, err := m.f(m.ctx, v)
	if err != nil {
		m.ctx.Fail(err)
		return
	}
	m.next.Collect(out)
}

// TryMap returns an operator that passes on f of every record; an error of f
// fails the job.
func TryMap[I, O any](f func(*Context, I) (O, error), next Collector[O]) Transform[I] {
	return &tryMapper[I, O]{f: f, next: next}
}

type filter[T any] struct {
	Stateless
	keep func(T) bool
	next Collector[T]
	pass func(T)
}

// Collect implements Collector.
func (f *filter[T]) Collect(v T) { f.pass(v) }

func (f *filter[T]) call() func(T) { return f.pass }

// Filter returns an operator that passes on the records that keep returns true for.
func Filter[T any](keep func(T) bool, next Collector[T]) Transform[T] {
	pass := callOf(next)
	return &filter[T]{keep: keep, next: next, pass: func(v T) {
		if keep(v) {
			pass(v)
		}
	}}
}

type flatMapper[I, O any] struct {
	Stateless
	f    func(I, Collector[O])
	next Collector[O]
}

// Collect implements Collector.
func (m *flatMapper[I, O]) Collect(v I) { m.f(v, m.next) }

// FlatMap returns an operator that passes on whatever f collects for a record.
func FlatMap[I, O any](f func(I, Collector[O]), next Collector[O]) Transform[I] {
	return &flatMapper[I, O]{f: f, next: next}
}

// tee passes records to several operators, in order.
type tee[T any] struct {
	ctx  *Context
	next []Collector[T]
}

// Collect implements Collector. Every consumer sees the record's own time and
// hash, whatever those before it did.
func (t *tee[T]) Collect(v T) {
	time, has, hash := t.ctx.Time, t.ctx.HasTime, t.ctx.Hash
	for _, c := range t.next {
		t.ctx.Time, t.ctx.HasTime, t.ctx.Hash = time, has, hash
		c.Collect(v)
	}
}

// Tee returns a collector that feeds all of next, or the only one itself.
func Tee[T any](ctx *Context, next []Collector[T]) Collector[T] {
	switch len(next) {
	case 0:
		return discard[T]{}
	case 1:
		return next[0]
	}
	return &tee[T]{ctx: ctx, next: next}
}

type discard[T any] struct{}

// Collect implements Collector.
func (discard[T]) Collect(T) {}

// Idler is an Operator that wants to know when its subtask has nothing to do.
type Idler interface{ Idle() error }
