package nexmark

import (
	"errors"
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// fileSink is the sink of a query whose rows go to files: it measures what is written to
// another.
type fileSink[T any] struct {
	out *Output
	to  operators.Sink[T]
}

// Open implements operators.Sink.
func (s fileSink[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	if s.out.Folder == "" {
		return nil, errors.New("nexmark: Output.Folder is missing: the query writes files")
	}
	w, err := s.to.Open(ctx)
	if err != nil {
		return nil, err
	}
	two, ok := w.(operators.TwoPhaseWriter[T])
	if !ok {
		return nil, errors.Join(errors.New("nexmark: a sink whose output is not exactly-once"), w.Close(false))
	}
	return &fileWriter[T]{two, s.out, ctx}, nil
}

type fileWriter[T any] struct {
	operators.TwoPhaseWriter[T]
	out *Output
	ctx *operators.Context
}

// Write implements operators.Writer.
func (w *fileWriter[T]) Write(v T) error {
	if err := w.TwoPhaseWriter.Write(v); err != nil {
		return err
	}
	if w.out.Latency != nil && w.ctx.HasTime {
		w.out.late(w.ctx.Time)
	}
	return nil
}

// Close implements operators.Writer. After it all that was written has its names: that is
// when the last row has come.
func (w *fileWriter[T]) Close(ok bool) error {
	err := w.TwoPhaseWriter.Close(ok)
	if ok && err == nil {
		w.out.ended(Result{}, time.Now())
	}
	return err
}
