package files

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/overtake-stream/overtake/operators"
)

// rows is a sink that writes one row of bytes for each record to a single file.
type rows[T any] struct {
	path string
	row  func(dst []byte, v T) ([]byte, error)
	head []byte
	err  error // of making it, reported by Open
}

// Single implements operators.SingleSink.
func (rows[T]) Single() {}

// Open implements operators.Sink.
func (s rows[T]) Open(*operators.Context) (operators.Writer[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("files: %s cannot be written: %w", s.path, err)
	}
	w := &rowWriter[T]{sink: s, file: f, out: bufio.NewWriterSize(f, bufferSize)}
	_, err = w.out.Write(s.head)
	return w, err
}

type rowWriter[T any] struct {
	sink rows[T]
	file *os.File
	out  *bufio.Writer
	line []byte // reused
}

// Write implements operators.Writer.
func (w *rowWriter[T]) Write(v T) (err error) {
	if w.line, err = w.sink.row(w.line[:0], v); err != nil {
		return w.wrap(err)
	}
	_, err = w.out.Write(w.line)
	return w.wrap(err)
}

// Flush implements operators.Writer: what is written can be seen only when all is.
func (w *rowWriter[T]) Flush() error { return nil }

// Close implements operators.Writer.
func (w *rowWriter[T]) Close(ok bool) error {
	if !ok {
		return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
	}
	if err := w.publish(); err != nil {
		_ = os.Remove(w.file.Name())
		return w.wrap(err)
	}
	return nil
}

// publish gives the file its name once its content is safe.
func (w *rowWriter[T]) publish() error {
	if err := errors.Join(w.out.Flush(), w.file.Chmod(0o644), w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), w.sink.path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(w.sink.path))
}

func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (w *rowWriter[T]) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("files: writing %s: %w", w.sink.path, err)
}
