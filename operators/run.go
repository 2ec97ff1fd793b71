package operators

// Run is a run of records that are taken at once, one after the other in each operator of a
// chain: fewer calls, and what an operator needs stays in the processor's registers and
// caches. Who passes it on lends it; nobody changes what is in it.
type Run[T any] struct {
	Values []T
	Times  []int64  // event times, Unix milliseconds; nil: no record has one
	Hashes []uint32 // of their keys; nil: all are 0
}

// A Runner is a Collector that also takes runs of records.
type Runner[T any] interface {
	// Runs returns what does with a run what Collect does with its records one by one, or nil
	// if records must come one by one here. It is called when the chain is complete.
	Runs(ctx *Context) func(r *Run[T])
}

const (
	runMax  = 64  // records of a run at most
	runSize = 256 // bytes of a record that goes in runs, at most
)

// runsOf returns what takes runs for next, or nil if it must have its records one by one.
//
// Values that hold pointers go one by one, since they may be valid for one call only. So do
// records that are followed by an output whose room cannot be known before a run: of records
// without a size, or behind an operator that collects any number of records for one.
func runsOf[T any](ctx *Context, next Collector[T]) func(*Run[T]) {
	if n := sizeOf[T](); !PointerFree[T]() || n == 0 || n > runSize {
		return nil
	}
	if r, ok := next.(Runner[T]); ok {
		return r.Runs(ctx)
	}
	return oneByOne(ctx, next)
}

// oneByOne returns what collects the records of a run one by one, unless the chain has outputs
// that must be asked for room before each.
func oneByOne[T any](ctx *Context, next Collector[T]) func(*Run[T]) {
	if len(ctx.partitions) > 0 {
		return nil
	}
	return eachOf(ctx, next)
}

// eachOf returns what collects the records of a run one by one, until one fails.
func eachOf[T any](ctx *Context, next Collector[T]) func(*Run[T]) {
	pass := callOf(next)
	return func(r *Run[T]) {
		r.begin(ctx)
		for i := range r.Values {
			r.enter(ctx, i)
			if pass(r.Values[i]); ctx.err != nil {
				return
			}
		}
	}
}

// begin makes what all records have in common that of the current one.
func (r *Run[T]) begin(ctx *Context) {
	ctx.HasTime, ctx.Time, ctx.Hash = r.Times != nil, 0, 0
}

// enter makes record i the current one, after begin.
func (r *Run[T]) enter(ctx *Context, i int) {
	if r.Times != nil {
		ctx.Time = r.Times[i]
	}
	if r.Hashes != nil {
		ctx.Hash = r.Hashes[i]
	}
}

// first is the run of the first n records.
func (r *Run[T]) first(n int) Run[T] {
	f := Run[T]{Values: r.Values[:n], Times: r.Times, Hashes: r.Hashes}
	if f.Times != nil {
		f.Times = f.Times[:n]
	}
	if f.Hashes != nil {
		f.Hashes = f.Hashes[:n]
	}
	return f
}

// of makes r the run of values that were made of the first records of another run.
func of[T, I any](r *Run[T], values []T, from *Run[I]) {
	first := from.first(len(values))
	r.Values, r.Times, r.Hashes = values, first.Times, first.Hashes
}

// room is how many of n records may go in a run: so many that no output makes the subtask wait
// before they are done. The chain can take one.
func (c *Context) room(n int) int {
	n = min(n, runMax)
	for _, p := range c.partitions {
		n = p.Sure(n)
	}
	return n
}
