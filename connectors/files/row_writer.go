package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// rowWriter writes a file under its pending name, which it has locked, and gives it
// its own when it is whole.
type rowWriter[T any] struct {
	// constant
	path   string
	format format[T]
	keep   bool // a later attempt may go on with the file

	file   *os.File // pending
	out    *bufio.Writer
	length int64  // of what was written, out's buffer included
	line   []byte // reused
	named  bool   // the pending name is durable
	err    error  // what failed first: what the file has since then is unknown

	// whole is where an earlier attempt ended with publishing the file, if the output
	// stands there still: pending is then empty.
	whole *position
}

// start makes the pending file what the output was at a position. If an earlier
// attempt had published the file already, there is no pending one, or a part of a
// copy: then it is the target that has the position's bytes.
func (w *rowWriter[T]) start(from position) error {
	if from.length == 0 {
		if err := w.cut(0); err != nil {
			return err
		}
		w.length = int64(len(w.format.head))
		_, err := w.out.Write(w.format.head)
		return err
	}
	_, err := from.check(w.file)
	if err == nil {
		return w.cut(from.length)
	}
	size, other := checkTarget(w.path, from)
	switch {
	case other != nil:
		return fmt.Errorf("it cannot be gone on with from the checkpoint: %w", errors.Join(err, other))
	case size > from.length:
		return w.copyTarget(from)
	}
	w.whole = &from
	return w.cut(0)
}

// checkTarget is check of the file at path.
func checkTarget(path string, p position) (size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	size, err = p.check(f)
	return size, errors.Join(err, f.Close())
}

// cut makes the pending file end at length, and goes on there.
func (w *rowWriter[T]) cut(length int64) error {
	if err := w.file.Truncate(length); err != nil {
		return err
	}
	w.length = length
	_, err := w.file.Seek(length, io.SeekStart)
	return err
}

// copyTarget makes the pending file of the bytes that the target has before p. The
// target stays as it is: it is whole, and can be seen.
func (w *rowWriter[T]) copyTarget(p position) error {
	target, err := os.Open(w.path)
	if err != nil {
		return err
	}
	if err = w.cut(0); err == nil {
		_, err = io.CopyN(w.file, target, p.length)
	}
	if err == nil {
		_, err = p.check(w.file)
	}
	if err = errors.Join(err, target.Close()); err != nil {
		return errors.Join(err, w.cut(0))
	}
	w.length, w.whole = p.length, nil
	return nil
}

// Write implements operators.Writer.
func (w *rowWriter[T]) Write(v T) (err error) {
	if w.line, err = w.format.row(w.line[:0], v); err != nil {
		return w.wrap(err)
	}
	if w.whole != nil {
		if err := w.copyTarget(*w.whole); err != nil {
			return w.fail(err)
		}
	}
	if _, err = w.out.Write(w.line); err != nil {
		return w.fail(err)
	}
	w.length += int64(len(w.line))
	return nil
}

// Flush implements operators.Writer: what is written can be seen only when all is.
func (w *rowWriter[T]) Flush() error { return nil }

// Position implements operators.ResumableWriter.
func (w *rowWriter[T]) Position(dst []byte) ([]byte, error) {
	if w.err != nil {
		return dst, w.err
	}
	if w.whole != nil {
		return w.whole.append(dst), nil
	}
	if err := errors.Join(w.out.Flush(), w.file.Sync()); err != nil {
		return dst, w.fail(err)
	}
	if !w.named {
		if err := syncFolder(filepath.Dir(w.path)); err != nil {
			return dst, w.fail(err)
		}
		w.named = true
	}
	tail, err := tailOf(w.file, w.length)
	if err != nil {
		return dst, w.fail(err)
	}
	return position{name: filepath.Base(w.path), length: w.length, tail: tail}.append(dst), nil
}

// Close implements operators.Writer.
func (w *rowWriter[T]) Close(ok bool) error {
	var err error
	if ok {
		if err = w.publish(); err == nil {
			return nil
		}
	}
	if cleanup := errors.Join(w.leave(), release(w.file)); cleanup != nil {
		err = errors.Join(err, w.wrap(cleanup))
	}
	return err
}

// publish gives the file its name once its content is safe, and releases it.
func (w *rowWriter[T]) publish() error {
	if w.err != nil {
		return w.err
	}
	var err error
	if w.whole != nil {
		err = os.Remove(w.file.Name())
	} else if err = errors.Join(w.out.Flush(), w.file.Sync()); err == nil {
		err = os.Rename(w.file.Name(), w.path)
	}
	if err != nil {
		return w.fail(err)
	}
	// From here on the pending name may be another's.
	if err := errors.Join(syncFolder(filepath.Dir(w.path)), release(w.file)); err != nil {
		return w.wrap(err)
	}
	return nil
}

// leave removes the pending file unless there is something to go on with later.
func (w *rowWriter[T]) leave() error {
	if w.keep {
		if info, err := w.file.Stat(); err != nil || info.Size() > 0 {
			return err
		}
	}
	return os.Remove(w.file.Name())
}

// fail makes err the one that Position and Close report.
func (w *rowWriter[T]) fail(err error) error {
	if w.err == nil {
		w.err = w.wrap(err)
	}
	return w.err
}

func (w *rowWriter[T]) wrap(err error) error {
	return fmt.Errorf("files: %s cannot be written: %w", w.path, err)
}
