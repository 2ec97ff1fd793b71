package files

import (
	"errors"
	"fmt"

	"github.com/overtake-stream/overtake/operators"
)

// Transactional is a sink for jobs with checkpoints, of any number of subtasks, which
// may change with a restart. It writes files to a folder, made if there is none, in
// one of this package's formats: Transactional("counts", files.TSV[Count]).
//
// Each subtask writes a file from one checkpoint to the next, if it has rows, and that
// file gets its name when the checkpoint is complete:
// part-SUBTASK-EPOCH-SEQ.EXT, of numbers only, and .tsv, .csv, .jsonl or nothing. All
// the files together have every row exactly once; CSV files have their first line each.
// In a job without checkpoints each subtask's one file gets its name when the input has
// ended.
//
// A folder belongs to one job. Parts of another run are refused, except those that a
// job without checkpoints replaces because they have the same names.
func Transactional[T any](dir string, format func(path string) operators.Sink[T]) operators.Sink[T] {
	rows, ok := format(dir).(rows[T])
	return transactional[T]{dir: dir, rows: rows, ok: ok}
}

type transactional[T any] struct {
	dir  string
	rows rows[T] // for its format
	ok   bool    // it has one
}

// Open implements operators.Sink.
func (s transactional[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	w := &transactionWriter[T]{
		dir: s.dir, ext: s.rows.ext,
		subtask: uint64(ctx.Subtask), parallelism: uint64(max(ctx.Parallelism, 1)), epoch: ctx.Epoch,
	}
	if !s.ok {
		return nil, w.wrap(errors.New("its format is none of Rows, TSV, CSV and JSONLines"))
	}
	var err error
	if w.format, err = s.rows.format(); err != nil {
		return nil, w.wrap(err)
	}
	if err = makeFolder(s.dir); err != nil {
		return nil, w.wrap(err)
	}
	if err = w.enter(); err != nil {
		return nil, w.wrap(errors.Join(err, w.exit()))
	}
	return w, nil
}

// checkPart refuses a part that cannot be there if it belongs to earlier attempts of
// this job.
func (w *transactionWriter[T]) checkPart(name string) error {
	t, ok := parsePart(name)
	switch {
	case !ok || !w.mine(t.subtask):
		return nil
	case w.epoch == 0 && t.epoch == 0 && t.seq == 0 && t.subtask == w.subtask:
		return nil // it will be replaced
	case t.epoch > 0 && t.epoch < w.epoch:
		w.older = name
		return nil
	}
	return fmt.Errorf("%s: %w: remove it, or write to another folder", name, ErrLeft)
}
