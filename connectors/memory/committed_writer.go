package memory

import "errors"

// committedWriter collects one subtask's transactions.
type committedWriter[T any] struct {
	to          *Committed[T]
	keep        func(T) T
	parallelism uint64
	present     transaction
	records     []T // of present
}

// Write implements operators.Writer.
func (w *committedWriter[T]) Write(v T) error {
	w.records = append(w.records, w.keep(v))
	return nil
}

// Flush implements operators.Writer.
func (w *committedWriter[T]) Flush() error { return nil }

// Prepare implements operators.TwoPhaseWriter.
func (w *committedWriter[T]) Prepare(dst []byte) ([]byte, error) {
	if len(w.records) == 0 {
		return dst, nil
	}
	t := w.present
	if err := w.to.prepare(t, w.records); err != nil {
		return dst, err
	}
	w.records = nil
	w.present.seq++
	return t.append(dst), nil
}

// Commit implements operators.TwoPhaseWriter.
func (w *committedWriter[T]) Commit(prepared []byte) error {
	t, err := decodeTransaction(prepared)
	if err != nil {
		return err
	}
	return w.to.commit(t)
}

// Abort implements operators.TwoPhaseWriter.
func (w *committedWriter[T]) Abort(prepared []byte) error {
	t, err := decodeTransaction(prepared)
	if err != nil {
		return err
	}
	return w.to.abort(t)
}

// Recovered implements operators.TwoPhaseWriter.
func (w *committedWriter[T]) Recovered() error {
	w.to.remove(w.earlier)
	return nil
}

// earlier reports whether a transaction is of an earlier attempt, and this writer looks
// after it.
func (w *committedWriter[T]) earlier(t transaction) bool {
	return t.epoch < w.present.epoch && t.subtask%w.parallelism == w.present.subtask
}

var errUncovered = errors.New("memory: records were written after the last checkpoint: a job with checkpoints must end with one")

// Close implements operators.Writer.
func (w *committedWriter[T]) Close(ok bool) error {
	records := w.records
	w.records = nil
	switch {
	case ok && w.present.epoch == 0:
		w.to.add(records)
	case ok && len(records) > 0:
		return errUncovered
	case ok:
		w.to.remove(w.earlier)
	}
	return nil
}
