package operators

// Runs implements Runner.
func (m *mapper[I, O]) Runs(ctx *Context) func(*Run[I]) {
	next := runsOf(ctx, m.next)
	if next == nil {
		return oneByOne[I](ctx, m)
	}
	f, place, out := m.f, make([]O, runMax), new(Run[O])
	return func(r *Run[I]) {
		values, from := place[:len(r.Values)], r.Values
		for i := range values {
			values[i] = f(from[i])
		}
		out.Values, out.Times, out.Hashes = values, r.Times, r.Hashes
		next(out)
	}
}

// Runs implements Runner.
func (m *tryMapper[I, O]) Runs(ctx *Context) func(*Run[I]) {
	next := runsOf(ctx, m.next)
	if next == nil {
		return oneByOne[I](ctx, m)
	}
	place, out := make([]O, runMax), new(Run[O])
	return func(r *Run[I]) {
		var failed error
		n := 0
		for r.begin(ctx); n < len(r.Values); n++ {
			r.enter(ctx, n)
			if place[n], failed = m.f(ctx, r.Values[n]); failed != nil {
				break
			}
		}
		of(out, place[:n], r)
		next(out)
		if failed != nil {
			ctx.Fail(failed)
		}
	}
}

// Runs implements Runner.
func (f *filter[T]) Runs(ctx *Context) func(*Run[T]) {
	next := runsOf(ctx, f.next)
	if next == nil {
		return oneByOne[T](ctx, f)
	}
	keep, out := f.keep, new(Run[T])
	values, times, hashes := make([]T, runMax), make([]int64, runMax), make([]uint32, runMax)
	return func(r *Run[T]) {
		n := 0
		for i, v := range r.Values {
			if values[n] = v; r.Times != nil {
				times[n] = r.Times[i]
			}
			if r.Hashes != nil {
				hashes[n] = r.Hashes[i]
			}
			if keep(v) {
				n++
			}
		}
		if n == 0 {
			return
		}
		*out = Run[T]{Values: values[:n]}
		if r.Times != nil {
			out.Times = times[:n]
		}
		if r.Hashes != nil {
			out.Hashes = hashes[:n]
		}
		next(out)
	}
}

// Runs implements Runner.
func (t *times[T]) Runs(ctx *Context) func(*Run[T]) {
	next := runsOf(ctx, t.next)
	if next == nil {
		return oneByOne[T](ctx, t)
	}
	out, place := new(Run[T]), make([]int64, runMax)
	return func(r *Run[T]) {
		*out = *r
		if t.time != nil {
			out.Times = place[:len(r.Values)]
			for i := range out.Times {
				out.Times[i] = t.time(r.Values[i])
			}
		}
		if ctx.split != t.maker.At {
			t.enter()
		}
		for _, time := range out.Times {
			t.follow(time)
		}
		next(out)
	}
}

// Runs implements Runner.
func (t *tee[T]) Runs(ctx *Context) func(*Run[T]) {
	var all []func(*Run[T])
	for _, next := range t.next {
		f := runsOf(ctx, next)
		if f == nil {
			return oneByOne[T](ctx, t)
		}
		all = append(all, f)
	}
	return func(r *Run[T]) {
		for _, f := range all {
			f(r)
		}
	}
}

// Runs implements Runner.
func (discard[T]) Runs(*Context) func(*Run[T]) { return func(*Run[T]) {} }

// Runs implements Runner.
func (s *writer[T]) Runs(ctx *Context) func(*Run[T]) {
	return func(r *Run[T]) {
		w, times, hashes := s.w, r.Times, r.Hashes
		r.begin(ctx)
		for i, v := range r.Values {
			if times != nil { // as enter does, which is not inlined here
				ctx.Time = times[i]
			}
			if hashes != nil {
				ctx.Hash = hashes[i]
			}
			if err := w.Write(v); err != nil {
				ctx.Fail(err)
				return
			}
		}
	}
}
