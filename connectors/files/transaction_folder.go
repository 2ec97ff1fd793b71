package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// mine reports whether this writer looks after what a subtask has left.
func (w *transactionWriter[T]) mine(subtask uint64) bool {
	return subtask%w.parallelism == w.subtask
}

// enter takes the subtask's place in the folder: alone, after its predecessors.
func (w *transactionWriter[T]) enter() (err error) {
	if w.lock, err = lock(filepath.Join(w.dir, lockName(w.subtask))); err != nil {
		return err
	}
	if err := errors.Join(w.eachPart(w.checkPart), w.each(w.enterAfter)); err != nil {
		return err
	}
	// Nothing but a dead run can have left pending files of this very epoch.
	return w.sweep(func(epoch uint64) bool { return epoch == w.epoch })
}

// enterAfter refuses to go on after pending files of another run, and removes the locks of
// subtasks that are no more.
func (w *transactionWriter[T]) enterAfter(name string) error {
	if t, ok := parsePending(name); ok && w.mine(t.subtask) && t.epoch > w.epoch {
		return fmt.Errorf("%s: %w, later than this attempt, %d: remove it if that job is gone", name, ErrLeft, w.epoch)
	}
	subtask, ok := parseLock(name)
	if !ok || subtask == w.subtask || !w.mine(subtask) {
		return nil
	}
	other, err := lock(filepath.Join(w.dir, name))
	if err != nil {
		return err
	}
	return unlock(other)
}

// exit leaves the folder.
func (w *transactionWriter[T]) exit() error {
	if w.lock == nil {
		return nil
	}
	return unlock(w.lock)
}

// unlock removes a file that lock has opened, and releases it.
func unlock(f *os.File) error { return errors.Join(removeFile(f.Name()), release(f)) }

// sweep removes pending files, of the epochs that are void, of subtasks that this
// writer looks after.
func (w *transactionWriter[T]) sweep(void func(epoch uint64) bool) error {
	return w.each(func(name string) error {
		if t, ok := parsePending(name); ok && w.mine(t.subtask) && void(t.epoch) {
			return removeFile(filepath.Join(w.dir, name))
		}
		return nil
	})
}

// each calls f with every name in the folder, and joins the errors.
func (w *transactionWriter[T]) each(f func(name string) error) error {
	entries, err := os.ReadDir(w.dir)
	for _, e := range entries {
		err = errors.Join(err, f(e.Name()))
	}
	return err
}

// eachPart calls f with the name of every file that may be a part, and joins the errors.
// With partitions it has its path below the folder, which somebody may change meanwhile:
// old partitions are removed by whoever has read them.
func (w *transactionWriter[T]) eachPart(f func(name string) error) error {
	if w.partitions.Folder == nil {
		return w.each(f)
	}
	var errs []error
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir():
			return nil
		}
		name, err := filepath.Rel(w.dir, path)
		if err = errors.Join(err, f(name)); err != nil { // there may be many files
			errs = append(errs, err)
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// checkPart refuses a part that cannot be there if it belongs to earlier attempts of
// this job.
func (w *transactionWriter[T]) checkPart(name string) error {
	t, ok := parsePart(filepath.Base(name))
	switch {
	case !ok || !w.mine(t.subtask):
		return nil
	case w.replaces() && t.epoch == 0 && t.seq == 0 && t.subtask == w.subtask:
		return nil
	case t.epoch > 0 && t.epoch < w.epoch:
		w.older = name
		return nil
	}
	return fmt.Errorf("%s: %w: remove it, or write to another folder", name, ErrLeft)
}

// replaces reports whether the subtask writes a part in the place of the one that the
// same job has written before. With partitions, which has which number is another each time.
func (w *transactionWriter[T]) replaces() bool {
	return w.epoch == 0 && w.partitions.Folder == nil
}
