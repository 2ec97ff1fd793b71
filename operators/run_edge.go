package operators

// spread returns what runs to several subpartitions need, or nil if the edge must have its
// records one by one.
func (e *edge[T]) spread() *spread {
	if e.rows.size < 0 {
		return nil
	}
	return &spread{places: make([]place, e.out.Builders())}
}

// Runs implements Runner.
func (e *forwardEdge[T]) Runs(*Context) func(*Run[T]) {
	s := e.spread()
	if s == nil {
		return nil
	}
	return func(r *Run[T]) { e.append(s, r, e.sub, 0, 1) }
}

// Runs implements Runner.
func (e *rebalanceEdge[T]) Runs(*Context) func(*Run[T]) {
	s := e.spread()
	if s == nil {
		return nil
	}
	return func(r *Run[T]) {
		for i := range min(e.n, len(r.Values)) {
			e.append(s, r, (e.next+i)%e.n, i, e.n)
		}
		e.next = (e.next + len(r.Values)) % e.n
	}
}

// Runs implements Runner.
func (e *customEdge[T]) Runs(*Context) func(*Run[T]) {
	s := e.spread()
	if s == nil {
		return nil
	}
	return func(r *Run[T]) {
		var failed error
		n := 0
		for ; n < len(r.Values); n++ {
			sub := e.choose(r.Values[n], e.n)
			if uint(sub) >= uint(e.n) {
				failed = &Error{Err: errPartitioner(sub, e.n)}
				break
			}
			s.subs[n] = int32(sub)
		}
		if first := r.first(n); n > 0 {
			e.scatter(s, &first, first.Hashes)
		}
		if failed != nil {
			e.ctx.Fail(failed)
		}
	}
}

// Runs implements Runner.
func (e *keyedEdge[T, K]) Runs(*Context) func(*Run[T]) {
	s := e.spread()
	if s == nil {
		return nil
	}
	hashes := make([]uint32, runMax)
	return func(r *Run[T]) {
		hashes, subs := hashes[:len(r.Values)], s.subs[:len(r.Values)]
		for i := range r.Values {
			hash := e.hash(e.key(r.Values[i]))
			hashes[i], subs[i] = hash, e.owners[KeyGroup(hash, len(e.owners))]
		}
		e.scatter(s, r, hashes)
	}
}
