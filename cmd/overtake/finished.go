package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/atomicfile"
)

// finishedFile, in a checkpoint folder, has the ID of the checkpoint with which the job
// has ended. It is written when all sinks are done: without it a job whose last
// checkpoint is of its end is started, so that its sinks can finish.
const finishedFile = "finished"

// alreadyFinished says so if there is nothing left to do for the job of a folder.
func alreadyFinished(e *env, dir string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, finishedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	last, err := lastOf(dir)
	if err != nil || last == nil || string(text) != strconv.FormatUint(uint64(last.ID), 10) {
		return false, err
	}
	e.log.Info(fmt.Sprintf("finished already with checkpoint %d; remove %s or use --from none to run it again", last.ID, dir))
	return true, nil
}

// markFinished notes that the job has ended with the latest checkpoint.
func markFinished(dir string) error {
	last, err := lastOf(dir)
	if err != nil || last == nil || !isEnd(last) {
		return err
	}
	return atomicfile.ReplaceText(filepath.Join(dir, finishedFile), 0o600, strconv.FormatUint(uint64(last.ID), 10))
}

// lastOf is the newest manifest of a folder; nil if there is none that is whole.
func lastOf(dir string) (*checkpoint.Manifest, error) {
	v, err := openView(dir)
	if err != nil {
		return nil, err
	}
	for _, id := range v.ids {
		if m, err := v.blobs.Manifest(context.Background(), id); err == nil {
			return m, nil
		}
	}
	return nil, nil
}

// isEnd reports whether all subtasks had finished.
func isEnd(m *checkpoint.Manifest) bool {
	for _, op := range m.Operators {
		if len(op.Subtasks) < op.Parallelism {
			return false
		}
		for _, s := range op.Subtasks {
			if !s.Finished {
				return false
			}
		}
	}
	return len(m.Operators) > 0
}
