package files

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// transactionWriter writes the files of one subtask. The lock of the subtask is its
// own, so pending files of its subtask and epoch are too.
type transactionWriter[T any] struct {
	// constant
	dir, ext    string
	format      format[T]
	subtask     uint64
	parallelism uint64
	epoch       uint64
	lock        *os.File

	seq  uint64 // of the present transaction
	file summed // of the present transaction, if open
	open bool   // there is one
	out  *bufio.Writer
	line []byte // reused
	err  error  // what failed first: rows are lost since then

	// older is a part of a lower epoch, if there is one. It is of this job only if the
	// job goes on from a checkpoint: a new job that was refused is tried again too.
	older     string
	recovered bool
}

// summed is a file that knows the length and the checksum of what was written.
type summed struct {
	*os.File
	length int64
	sum    uint32
	table  *crc32.Table
}

// Write implements io.Writer.
func (s *summed) Write(b []byte) (int, error) {
	n, err := s.File.Write(b)
	s.length += int64(n)
	s.sum = crc32.Update(s.sum, s.table, b[:n])
	return n, err
}

// Write implements operators.Writer.
func (w *transactionWriter[T]) Write(v T) (err error) {
	if w.line, err = w.format.row(w.line[:0], v); err != nil {
		return w.wrap(err)
	}
	if !w.open {
		if err = w.begin(); err != nil {
			return w.fail(err)
		}
	}
	if _, err = w.out.Write(w.line); err != nil {
		return w.fail(err)
	}
	return nil
}

// begin creates the file of the present transaction.
func (w *transactionWriter[T]) begin() error {
	if w.err != nil {
		return w.err
	}
	f, err := os.OpenFile(filepath.Join(w.dir, w.present().pending(w.ext)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w.file, w.open = summed{File: f, table: castagnoli()}, true
	if w.out == nil {
		w.out = bufio.NewWriterSize(nil, bufferSize)
	}
	w.out.Reset(&w.file)
	_, err = w.out.Write(w.format.head)
	return err
}

// present is the present transaction so far.
func (w *transactionWriter[T]) present() transaction {
	return transaction{subtask: w.subtask, epoch: w.epoch, seq: w.seq, length: w.file.length, sum: w.file.sum}
}

// Flush implements operators.Writer: what is written can be seen when it is committed.
func (w *transactionWriter[T]) Flush() error { return nil }

// Prepare implements operators.TwoPhaseWriter.
func (w *transactionWriter[T]) Prepare(dst []byte) ([]byte, error) {
	if w.err == nil && w.older != "" && !w.recovered {
		return dst, w.fail(fmt.Errorf("%s: %w: the job has begun anew: remove it, or write to another folder", w.older, ErrLeft))
	}
	if w.err != nil || !w.open {
		return dst, w.err
	}
	t, err := w.prepare()
	if err != nil {
		return dst, err
	}
	return t.append(dst), nil
}

// prepare ends the present transaction, or removes it and fails the writer.
func (w *transactionWriter[T]) prepare() (transaction, error) {
	err := errors.Join(w.out.Flush(), w.file.Sync())
	if err != nil {
		return transaction{}, w.fail(errors.Join(err, w.discard()))
	}
	t := w.present()
	w.open = false
	if err := errors.Join(w.file.Close(), syncFolder(w.dir)); err != nil {
		return t, w.fail(errors.Join(err, removeFile(w.file.Name())))
	}
	w.seq++
	return t, nil
}

// discard removes the present transaction.
func (w *transactionWriter[T]) discard() error {
	if !w.open {
		return nil
	}
	w.open = false
	return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

// Commit implements operators.TwoPhaseWriter. It may be called after Close.
func (w *transactionWriter[T]) Commit(prepared []byte) error {
	t, err := decodeTransaction(prepared)
	if err != nil {
		return w.wrap(err)
	}
	// What another attempt has left is read again, to be sure.
	own := t.subtask == w.subtask && t.epoch == w.epoch
	if err := t.commit(w.dir, w.ext, !own, false); err != nil {
		return w.wrap(err)
	}
	return nil
}

// Abort implements operators.TwoPhaseWriter. What is gone already needs no abort.
func (w *transactionWriter[T]) Abort(prepared []byte) error {
	t, err := decodeTransaction(prepared)
	if err == nil {
		err = t.abort(w.dir, w.ext)
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
	case !w.open:
		return nil
	case w.epoch > 0:
		return errors.New("rows were written after the last checkpoint: a job with checkpoints must end with one")
	}
	t, err := w.prepare()
	if err != nil {
		return err
	}
	return t.commit(w.dir, w.ext, false, true)
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
