package files

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// transactionWriter writes the files of one subtask. The lock of the subtask is its
// own, so pending files of its subtask and epoch are too.
type transactionWriter[T any] struct {
	// constant
	ctx         *operators.Context
	dir, ext    string
	format      format[T]
	partitions  Partitions[T] // its Folder is nil if there are none
	maxOpen     int
	bufferSize  int
	subtask     uint64
	parallelism uint64
	epoch       uint64
	lock        *os.File

	seq   uint64                // of the next file
	open  map[string]*partition // by folder, maxOpen at most
	last  *partition            // that a row went to, if it is open
	ended prepared              // files that are not open any more, and not yet in a Prepare
	spare []*bufio.Writer       // of ended files
	rows  uint64
	line  []byte // reused
	name  []byte // reused: of the folder
	err   error  // what failed first: rows are lost since then

	// older is a part of a lower epoch, if there is one. It is of this job only if the
	// job goes on from a checkpoint: a new job that was refused is tried again too.
	older     string
	recovered bool
}

// Write implements operators.Writer.
func (w *transactionWriter[T]) Write(v T) (err error) {
	if w.line, err = w.format.row(w.line[:0], v); err != nil {
		return w.wrap(err)
	}
	if w.partitions.Folder != nil {
		w.name = w.partitions.Folder(w.name[:0], v, w.time())
	}
	p := w.last
	if p == nil || p.folder != string(w.name) {
		if p = w.open[string(w.name)]; p == nil {
			if p, err = w.begin(string(w.name)); err != nil {
				return err
			}
		}
		w.last = p
	}
	w.rows++
	p.used = w.rows
	if _, err = p.out.Write(w.line); err != nil {
		return w.fail(err)
	}
	return nil
}

// time is the event time of the record.
func (w *transactionWriter[T]) time() time.Time {
	if !w.ctx.HasTime {
		return time.Time{}
	}
	return time.UnixMilli(w.ctx.Time).UTC()
}

// Flush implements operators.Writer: what is written can be seen when it is committed.
func (w *transactionWriter[T]) Flush() error { return nil }

// Prepare implements operators.TwoPhaseWriter.
func (w *transactionWriter[T]) Prepare(dst []byte) ([]byte, error) {
	if w.err == nil && w.older != "" && !w.recovered {
		return dst, w.fail(fmt.Errorf("%s: %w: the job has begun anew: remove it, or write to another folder", w.older, ErrLeft))
	}
	if w.err != nil {
		return dst, w.err
	}
	p, err := w.prepare()
	if err != nil {
		return dst, err
	}
	return p.append(dst), nil
}

// prepare ends all files, or removes them and fails the writer.
func (w *transactionWriter[T]) prepare() (prepared, error) {
	var err error
	for _, p := range w.open {
		if err = w.end(p); err != nil {
			break
		}
	}
	if err == nil && len(w.ended) > 0 {
		err = syncFolder(w.dir)
	}
	if err != nil {
		return nil, w.fail(errors.Join(err, w.discard()))
	}
	p := w.ended
	w.ended = nil
	return p, nil
}

// discard removes what is in no Prepare.
func (w *transactionWriter[T]) discard() (err error) {
	for _, p := range w.open {
		err = errors.Join(err, w.drop(p))
	}
	for _, t := range w.ended {
		err = errors.Join(err, removeFile(filepath.Join(w.dir, t.pending(w.ext))))
	}
	w.ended = nil
	return err
}

// Commit implements operators.TwoPhaseWriter. It may be called after Close.
func (w *transactionWriter[T]) Commit(prepared []byte) error {
	p, err := decodePrepared(prepared)
	if err != nil {
		return w.wrap(err)
	}
	// What another attempt has left is read again, to be sure.
	own := p[0].subtask == w.subtask && p[0].epoch == w.epoch
	if err := p.commit(w.dir, w.ext, !own, false); err != nil {
		return w.wrap(err)
	}
	return nil
}

// Abort implements operators.TwoPhaseWriter. What is gone already needs no abort.
func (w *transactionWriter[T]) Abort(prepared []byte) error {
	p, err := decodePrepared(prepared)
	if err == nil {
		err = p.abort(w.dir, w.ext)
	}
	if err != nil {
		return w.wrap(err)
	}
	return nil
}

// Recovered implements operators.TwoPhaseWriter.
func (w *transactionWriter[T]) Recovered() error {
	if err := w.sweep(func(epoch uint64) bool { return epoch < w.epoch }); err != nil {
		return w.wrap(err)
	}
	w.recovered = true
	return nil
}

// Close implements operators.Writer.
func (w *transactionWriter[T]) Close(ok bool) error {
	var err error
	if ok {
		err = w.finish()
	}
	err = errors.Join(err, w.discard())
	if w.epoch == 0 {
		err = errors.Join(err, w.sweep(func(epoch uint64) bool { return epoch == 0 }))
	} else if ok && err == nil {
		err = w.sweep(func(epoch uint64) bool { return epoch < w.epoch })
	}
	if err = errors.Join(err, w.exit()); err != nil && w.err == nil {
		return w.wrap(err)
	}
	return err
}

// finish ends the output, of which with checkpoints the last one must have all.
func (w *transactionWriter[T]) finish() error {
	switch {
	case w.err != nil:
		return w.err
	case len(w.open)+len(w.ended) == 0:
		return nil
	case w.epoch > 0:
		return errors.New("rows were written after the last checkpoint: a job with checkpoints must end with one")
	}
	p, err := w.prepare()
	if err != nil {
		return err
	}
	return p.commit(w.dir, w.ext, false, w.replaces())
}

// fail makes err the one that all that follows reports.
func (w *transactionWriter[T]) fail(err error) error {
	if w.err == nil {
		w.err = w.wrap(err)
	}
	return w.err
}

func (w *transactionWriter[T]) wrap(err error) error {
	return fmt.Errorf("files: %s cannot be written by subtask %d: %w", w.dir, w.subtask, err)
}
