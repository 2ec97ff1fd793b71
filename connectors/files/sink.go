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
	path   string
	ext    string                    // what names of such files end with, where the sink chooses them
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
func (s rows[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	return s.Resume(ctx, nil)
}

// Resume implements operators.ResumableSink.
func (s rows[T]) Resume(ctx *operators.Context, positions [][]byte) (operators.ResumableWriter[T], error) {
	w := &rowWriter[T]{path: s.path, keep: ctx.Epoch > 0}
	var err error
	if w.format, err = s.format(); err != nil {
		return nil, w.wrap(err)
	}
	from, err := s.from(positions)
	if err != nil {
		return nil, w.wrap(err)
	}
	if w.file, err = lock(s.pending()); err != nil {
		return nil, w.wrap(err)
	}
	w.out = bufio.NewWriterSize(w.file, bufferSize)
	if err := w.start(from); err != nil {
		return nil, errors.Join(w.wrap(err), w.Close(false))
	}
	return w, nil
}

// pending is the name of the file until it is whole. It is always the same, so that
// the next attempt finds it, and two that write the same file meet.
func (s rows[T]) pending() string {
	dir, base := filepath.Split(s.path)
	return filepath.Join(dir, "."+base+".pending")
}

// from returns where to go on, length 0 for the beginning.
func (s rows[T]) from(positions [][]byte) (position, error) {
	base := filepath.Base(s.path)
	if s.path == "" || os.IsPathSeparator(s.path[len(s.path)-1]) {
		return position{}, errors.New("it has no file name")
	}
	if info, err := os.Stat(s.path); err == nil && info.IsDir() {
		return position{}, errors.New("it is a folder")
	}
	switch len(positions) {
	case 0:
		return position{}, nil
	case 1:
		p, err := decodePosition(positions[0])
		if err == nil && p.name != base {
			err = fmt.Errorf("%w: that is %s", ErrForeign, p.name)
		}
		return p, err
	}
	return position{}, fmt.Errorf("the checkpoint has %d files to go on with, and a subtask writes one: keep the number of subtasks, or use Transactional", len(positions))
}
