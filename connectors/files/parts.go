package files

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/overtake-stream/overtake/operators"
)

// Parts is a sink that writes a file for each of its subtasks, dir/part-00000 and so
// on, in a format: Parts("counts", files.TSV[Count]). It makes the folder if there is
// none. A folder with parts of higher numbers, from a job with more subtasks, is
// refused, since the two would be taken for one result.
func Parts[T any](dir string, format func(path string) operators.Sink[T]) operators.Sink[T] {
	return parts[T]{dir: dir, format: format}
}

type parts[T any] struct {
	dir    string
	format func(path string) operators.Sink[T]
}

// Open implements operators.Sink.
func (s parts[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, fmt.Errorf("files: %s cannot be written: %w", s.dir, err)
	}
	old, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	for _, entry := range old {
		var n int
		if _, err := fmt.Sscanf(entry.Name(), "part-%05d", &n); err == nil && n >= ctx.Parallelism {
			return nil, fmt.Errorf("files: %s is left from a job with more subtasks: remove it, or write to another folder", filepath.Join(s.dir, entry.Name()))
		}
	}
	return s.format(filepath.Join(s.dir, fmt.Sprintf("part-%05d", ctx.Subtask))).Open(ctx)
}
