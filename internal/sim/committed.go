package sim

import (
	"encoding/json"
	"fmt"

	"github.com/overtake-stream/overtake/operators"
)

// transaction names what a writer of the sink has prepared.
type transaction struct {
	Epoch        uint64
	Subtask, Seq int
}

// committed is the sink: what it has outlives attempts.
type committed struct {
	w        *world
	prepared map[transaction][]rec
	done     map[transaction]bool
	records  []rec
}

// Open implements operators.Sink.
func (c *committed) Open(ctx *operators.Context) (operators.Writer[rec], error) {
	return &writer{to: c, ctx: ctx, now: transaction{Epoch: ctx.Epoch, Subtask: ctx.Subtask}}, nil
}

type writer struct {
	to   *committed
	ctx  *operators.Context
	now  transaction
	open []rec
}

// Write implements operators.Writer.
func (w *writer) Write(v rec) error {
	v.Fill = ""
	w.open = append(w.open, v)
	return nil
}

// Flush implements operators.Writer.
func (w *writer) Flush() error { return nil }

// Close implements operators.Writer.
func (w *writer) Close(bool) error { return nil }

// Prepare implements operators.TwoPhaseWriter.
func (w *writer) Prepare(dst []byte) ([]byte, error) {
	if len(w.open) == 0 {
		return dst, nil
	}
	w.now.Seq++
	w.to.prepared[w.now] = w.open
	w.open = nil
	b, err := json.Marshal(w.now)
	return append(dst, b...), err
}

// Commit implements operators.TwoPhaseWriter.
func (w *writer) Commit(prepared []byte) error {
	var t transaction
	if err := json.Unmarshal(prepared, &t); err != nil {
		return err
	}
	if w.to.done[t] {
		return nil
	}
	records, ok := w.to.prepared[t]
	if !ok {
		return fmt.Errorf("transaction %v is gone", t)
	}
	delete(w.to.prepared, t)
	w.to.done[t] = true
	w.to.records = append(w.to.records, records...)
	return nil
}

// Abort implements operators.TwoPhaseWriter.
func (w *writer) Abort([]byte) error { return nil }

// Recovered implements operators.TwoPhaseWriter.
func (w *writer) Recovered() error {
	for t := range w.to.prepared {
		if t.Subtask%w.ctx.Parallelism == w.ctx.Subtask && t.Epoch < w.ctx.Epoch {
			delete(w.to.prepared, t)
		}
	}
	return nil
}
