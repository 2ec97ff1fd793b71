package files

import (
	"cmp"
	"errors"

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

// Partitioned is Transactional with a folder for each partition, such as a day or an hour:
// Partitioned("orders", files.TSV[Order], files.Partitions[Order]{
// Folder: files.ByTime[Order]("dt=2006-01-02/hour=15")}).
//
// Each subtask writes a file for each partition from one checkpoint to the next, or more
// of them (see Partitions.MaxOpen). All of a checkpoint get their names when it is
// complete, one after the other: FOLDER/part-SUBTASK-EPOCH-SEQ.EXT. Until then they are
// in the output's own folder, so a partition's folder that can be seen has rows. All of
// it must be on one file system. Records may come in any order: a partition is never
// complete as far as the sink knows.
//
// A job without checkpoints replaces nothing. An attempt begins with a look at the names
// of all files in the folder.
func Partitioned[T any](dir string, format func(path string) operators.Sink[T], p Partitions[T]) operators.Sink[T] {
	rows, ok := format(dir).(rows[T])
	return transactional[T]{dir: dir, rows: rows, ok: ok, partitions: &p}
}

type transactional[T any] struct {
	dir  string
	rows rows[T] // for its format
	ok   bool    // it has one

	partitions *Partitions[T] // nil: none
}

// Open implements operators.Sink.
func (s transactional[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	w := &transactionWriter[T]{
		ctx: ctx, dir: s.dir, ext: s.rows.ext, maxOpen: 1, bufferSize: bufferSize,
		subtask: uint64(ctx.Subtask), parallelism: uint64(max(ctx.Parallelism, 1)), epoch: ctx.Epoch,
		open: map[string]*partition{},
	}
	if !s.ok {
		return nil, w.wrap(errors.New("its format is none of Rows, TSV, CSV and JSONLines"))
	}
	if p := s.partitions; p != nil {
		if err := p.Validate(); err != nil {
			return nil, w.wrap(err)
		}
		w.partitions, w.maxOpen, w.bufferSize = *p, cmp.Or(p.MaxOpen, defaultOpen), partitionBuffer
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
