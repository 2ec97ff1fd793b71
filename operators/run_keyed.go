package operators

// Runs implements Runner.
func (a *aggregate[K, T, A, O]) Runs(ctx *Context) func(*Run[T]) {
	next := runsOf(ctx, a.next)
	if next == nil && !a.final {
		return oneByOne[T](ctx, a)
	}
	results, out, find := make([]Pair[K, O], runMax), new(Run[Pair[K, O]]), newFinder(&a.gathered)
	add, result := a.agg.Add, a.agg.Result
	return func(r *Run[T]) {
		done := 0
		for find.begin(r); done < len(r.Values); {
			n, _ := find.next(r, done)
			if n == 0 {
				break
			}
			for i, acc := range find.accs[:n] {
				if add(acc, r.Values[done+i]); !a.final {
					results[done+i] = Pair[K, O]{Key: find.keys[done+i], Value: result(acc)}
				}
			}
			if done += n; !find.save(r, done-1) {
				break
			}
		}
		if done > 0 && !a.final {
			of(out, results[:done], r)
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
	results, out, find, f := make([]T, runMax), new(Run[T]), newFinder(&r.gathered), r.f
	return func(in *Run[T]) {
		done := 0
		for find.begin(in); done < len(in.Values); {
			n, fresh := find.next(in, done)
			if n == 0 {
				break
			}
			for i, acc := range find.accs[:n] {
				if fresh {
					*acc = in.Values[done+i]
				} else {
					*acc = f(*acc, in.Values[done+i])
				}
				results[done+i] = *acc
			}
			if done += n; !find.save(in, done-1) {
				break
			}
		}
		if done > 0 && !r.final {
			of(out, results[:done], in)
			next(out)
		}
	}
}

// finder finds the accumulators of a run.
type finder[K comparable, T, A any] struct {
	*gathered[K, T, A]
	keys []K
	accs []*A
	none [runMax]uint32 // hashes of records without one
}

func newFinder[K comparable, T, A any](g *gathered[K, T, A]) *finder[K, T, A] {
	return &finder[K, T, A]{gathered: g, keys: make([]K, runMax), accs: make([]*A, runMax)}
}

// begin takes a run's keys.
func (f *finder[K, T, A]) begin(r *Run[T]) {
	keys, key := f.keys[:len(r.Values)], f.key
	for i := range keys {
		keys[i] = key(r.Values[i])
	}
}

// next lends in accs the accumulators of n records of a run, from number done on, until it is
// called again. Those that are in place and quick to find come together, others one by one. fresh
// says that the only one is new and zero. n is 0 after an error.
func (f *finder[K, T, A]) next(r *Run[T], done int) (n int, fresh bool) {
	if f.fixed && f.table.place != nil {
		if n := f.table.place.Present(f.hashes(r)[done:], memories(f.keys[done:len(r.Values)]), f.accs); n > 0 {
			return n, false
		}
	}
	acc, fresh, err := f.table.upsert(f.hashes(r)[done], f.bytesOf(f.keys[done]))
	if err != nil {
		f.ctx.Fail(err)
		return 0, false
	}
	f.accs[0] = acc
	return 1, fresh
}

// hashes are those of a run's keys.
func (f *finder[K, T, A]) hashes(r *Run[T]) []uint32 {
	if r.Hashes == nil {
		return f.none[:len(r.Values)]
	}
	return r.Hashes
}

// save ends the change of what next has lent, up to record i of a run, and reports whether it
// could.
func (f *finder[K, T, A]) save(r *Run[T], i int) bool {
	if f.table.place != nil {
		return true
	}
	err := f.table.save(f.hashes(r)[i], f.bytes)
	if err != nil {
		f.ctx.Fail(err)
	}
	return err == nil
}
