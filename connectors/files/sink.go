package files

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/overtake-stream/overtake/operators"
)

// rows is a sink that writes one row of bytes for each record to a single file.
type rows[T any] struct {
	path   string
	format func() (format[T], error) // makes the format of one writer
}

// format is how records become bytes.
type format[T any] struct {
	head []byte                                      // what the file begins with
	row  func(dst []byte, v T) (_ []byte, err error) // appends a line
}

// Single implements operators.SingleSink.
func (rows[T]) Single() {}

// Open implements operators.Sink.
func (s rows[T]) Open(*operators.Context) (operators.Writer[T], error) {
	w := &rowWriter[T]{path: s.path}
	var err error
	if w.format, err = s.format(); err != nil {
		return nil, w.wrap(err)
	}
	if info, err := os.Stat(s.path); err == nil && info.IsDir() {
		return nil, w.wrap(errors.New("it is a folder"))
	}
	if w.file, err = createBeside(s.path); err != nil {
		return nil, w.wrap(err)
	}
	w.out = bufio.NewWriterSize(w.file, bufferSize)
	if _, err = w.out.Write(w.format.head); err != nil {
		return nil, errors.Join(w.wrap(err), w.discard())
	}
	return w, nil
}

// createBeside creates a new file in the folder of path.
func createBeside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

type rowWriter[T any] struct {
	path   string
	format format[T]
	file   *os.File // under its temporary name
	out    *bufio.Writer
	line   []byte // reused
}

// Write implements operators.Writer.
func (w *rowWriter[T]) Write(v T) (err error) {
	if w.line, err = w.format.row(w.line[:0], v); err != nil {
		return w.wrap(err)
	}
	if _, err = w.out.Write(w.line); err != nil {
		return w.wrap(err)
	}
	return nil
}

// Flush implements operators.Writer: what is written can be seen only when all is.
func (w *rowWriter[T]) Flush() error { return nil }

// Close implements operators.Writer.
func (w *rowWriter[T]) Close(ok bool) error {
	if !ok {
		return w.discard()
	}
	if err := w.publish(); err != nil {
		_ = os.Remove(w.file.Name())
		return w.wrap(err)
	}
	return nil
}

// publish gives the file its name once its content is safe.
func (w *rowWriter[T]) publish() error {
	if err := errors.Join(w.out.Flush(), w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), w.path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(w.path))
}

// discard removes what was written.
func (w *rowWriter[T]) discard() error {
	if err := errors.Join(w.file.Close(), os.Remove(w.file.Name())); err != nil {
		return w.wrap(err)
	}
	return nil
}

func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (w *rowWriter[T]) wrap(err error) error {
	return fmt.Errorf("files: %s cannot be written: %w", w.path, err)
}
