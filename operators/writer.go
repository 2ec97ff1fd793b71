package operators

// writer is the operator that writes to a sink. Between the checkpoints it does for the
// three kinds of writers what makes their output exactly-once, as far as they can.
type writer[T any] struct {
	ctx      *Context
	to       Sink[T]
	w        Writer[T]
	phases   TwoPhaseWriter[T]  // w, if it is one
	position ResumableWriter[T] // w, if it is one
	prepared []prepared         // not yet committed, in order
}

// prepared is what a TwoPhaseWriter has prepared for a checkpoint.
type prepared struct {
	checkpoint uint64
	what       []byte
}

// To returns the operator that writes to a sink.
func To[T any](sink Sink[T]) Transform[T] { return &writer[T]{to: sink} }

// Open implements Operator.
func (s *writer[T]) Open(ctx *Context) (err error) {
	s.ctx = ctx
	pieces, restored := ctx.Pieces()
	if r, ok := s.to.(ResumableSink[T]); ok && ctx.Checkpointed() {
		if s.position, err = r.Resume(ctx, pieces); err == nil {
			s.w = s.position
		}
		return err
	}
	if s.w, err = s.to.Open(ctx); err != nil {
		return err
	}
	if s.phases, _ = s.w.(TwoPhaseWriter[T]); s.phases == nil || !restored {
		return nil
	}
	return s.recover(pieces)
}

// recover commits what the restored checkpoint had prepared: that it is complete is
// the decision to commit, whether or not somebody was told in time.
func (s *writer[T]) recover(pieces [][]byte) error {
	for _, p := range pieces {
		list, err := SplitPieces(p)
		if err != nil {
			return err
		}
		for _, what := range list {
			if err := s.phases.Commit(what); err != nil {
				return err
			}
		}
	}
	return s.phases.Recovered()
}

// Plain implements Plain.
func (s *writer[T]) Plain() bool { return s.position == nil && s.phases == nil }

// Snapshot implements Checkpointer.
func (s *writer[T]) Snapshot(checkpoint uint64, dst []byte) ([]byte, error) {
	switch {
	case s.position != nil:
		return s.position.Position(dst)
	case s.phases == nil:
		return dst, nil
	}
	what, err := s.phases.Prepare(nil)
	if err != nil {
		return nil, err
	}
	if len(what) > 0 {
		s.prepared = append(s.prepared, prepared{checkpoint, what})
	}
	list := make([][]byte, len(s.prepared))
	for i, p := range s.prepared {
		list[i] = p.what
	}
	return append(dst, JoinPieces(list)...), nil
}

// Completed implements Checkpointer.
func (s *writer[T]) Completed(checkpoint uint64) error {
	for len(s.prepared) > 0 && s.prepared[0].checkpoint <= checkpoint {
		if err := s.phases.Commit(s.prepared[0].what); err != nil {
			return err
		}
		s.prepared = s.prepared[1:]
	}
	return nil
}

// Collect implements Collector.
func (s *writer[T]) Collect(v T) {
	if err := s.w.Write(v); err != nil {
		s.ctx.Fail(err)
	}
}

func (s *writer[T]) call() func(T) { return s.Collect }

// Finish implements Operator.
func (s *writer[T]) Finish() error { return s.w.Flush() }

// Idle implements Idler.
func (s *writer[T]) Idle() error { return s.w.Flush() }

// Close implements Operator.
func (s *writer[T]) Close(ok bool) error {
	if s.w == nil {
		return nil
	}
	return s.w.Close(ok)
}
