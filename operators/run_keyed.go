package operators

// Runs implements Runner.
func (a *aggregate[K, T, A, O]) Runs(ctx *Context) func(*Run[T]) {
	next := runsOf(ctx, a.next)
	if next == nil && !a.final {
		return oneByOne[T](ctx, a)
	}
	results, out := make([]Pair[K, O], runMax), new(Run[Pair[K, O]])
	add, result := a.agg.Add, a.agg.Result
	return func(r *Run[T]) {
		n := 0
		for ; n < len(r.Values); n++ {
			key, acc, _ := a.upsert(r, n)
			if acc == nil {
				break
			}
			if add(acc, r.Values[n]); !a.final {
				results[n] = Pair[K, O]{Key: key, Value: result(acc)}
			}
			if !a.saved(r, n) {
				break
			}
		}
		if n > 0 && !a.final {
			of(out, results[:n], r)
			next(out)
		}
	}
}

// Runs implements Runner.
func (r *reduce[K, T]) Runs(ctx *Context) func(*Run[T]) {
	next := runsOf(ctx, r.next)
	if next == nil && !r.final {
		return oneByOne[T](ctx, r)
	}
	results, out, f := make([]T, runMax), new(Run[T]), r.f
	return func(in *Run[T]) {
		n := 0
		for ; n < len(in.Values); n++ {
			_, acc, fresh := r.upsert(in, n)
			if acc == nil {
				break
			}
			if results[n] = in.Values[n]; !fresh {
				results[n] = f(*acc, in.Values[n])
			}
			if *acc = results[n]; !r.saved(in, n) {
				break
			}
		}
		if n > 0 && !r.final {
			of(out, results[:n], in)
			next(out)
		}
	}
}

// upsert lends the accumulator of record i of a run until the next one, nil after an error. fresh
// says that it is new and zero.
func (g *gathered[K, T, A]) upsert(r *Run[T], i int) (key K, acc *A, fresh bool) {
	key, bytes := g.encode(r.Values[i])
	acc, fresh, err := g.table.upsert(r.hash(i), bytes)
	if err != nil {
		g.ctx.Fail(err)
		return key, nil, false
	}
	return key, acc, fresh
}

// saved ends the change of what upsert lent, and reports whether it could.
func (g *gathered[K, T, A]) saved(r *Run[T], i int) bool {
	if g.table.place != nil {
		return true
	}
	if err := g.table.save(r.hash(i), g.bytes); err != nil {
		g.ctx.Fail(err)
		return false
	}
	return true
}
