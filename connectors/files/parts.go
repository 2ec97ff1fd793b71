package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/overtake-stream/overtake/operators"
)

// Parts is a sink that writes a file for each of its subtasks, dir/part-00000 and so
// on, in a format: Parts("counts", files.TSV[Count]). It makes the folder if there is
// none. A folder with parts of higher numbers, from a job with more subtasks, is
// refused, since the two would be taken for one result.
//
// In a job with checkpoints each part is gone on with by the subtask of its number, so
// that a restart with fewer subtasks is refused. Transactional has no such limit.
func Parts[T any](dir string, format func(path string) operators.Sink[T]) operators.Sink[T] {
	s := parts[T]{dir: dir, format: format}
	if _, ok := format(s.path(0)).(operators.ResumableSink[T]); ok {
		return resumableParts[T]{s}
	}
	return s
}

type parts[T any] struct {
	dir    string
	format func(path string) operators.Sink[T]
}

func (s parts[T]) path(subtask int) string {
	return filepath.Join(s.dir, fmt.Sprintf("part-%05d", subtask))
}

// Open implements operators.Sink.
func (s parts[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s.format(s.path(ctx.Subtask)).Open(ctx)
}

// prepare makes the folder, or checks what is in it.
func (s parts[T]) prepare(ctx *operators.Context) error {
	if err := makeFolder(s.dir); err != nil {
		return fmt.Errorf("files: %s cannot be written: %w", s.dir, err)
	}
	old, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("files: %w", err)
	}
	for _, entry := range old {
		var n int
		if _, err := fmt.Sscanf(entry.Name(), "part-%05d", &n); err == nil && n >= ctx.Parallelism {
			return fmt.Errorf("files: %s: %w of a job with more subtasks: remove it, or write to another folder", filepath.Join(s.dir, entry.Name()), ErrLeft)
		}
	}
	return nil
}

// ErrLeft says that a folder has output that does not belong to what a job would write
// there.
var ErrLeft = errors.New("it is left from another run")

// resumableParts is parts of files that can be gone on with.
type resumableParts[T any] struct{ parts[T] }

// Resume implements operators.ResumableSink.
func (s resumableParts[T]) Resume(ctx *operators.Context, positions [][]byte) (operators.ResumableWriter[T], error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	sink, ok := s.format(s.path(ctx.Subtask)).(operators.ResumableSink[T])
	if !ok {
		return nil, fmt.Errorf("files: the format of %s is not always one that can be gone on with", s.dir)
	}
	return sink.Resume(ctx, positions)
}
