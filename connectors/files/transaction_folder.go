package files

import (
	"errors"
	"fmt"
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
	if err := w.each(w.enterAfter); err != nil {
		return err
	}
	// Nothing but a dead run can have left pending files of this very epoch.
	return w.sweep(func(epoch uint64) bool { return epoch == w.epoch })
}

// enterAfter refuses to go on after what another run has left, and removes the locks of
// subtasks that are no more.
func (w *transactionWriter[T]) enterAfter(name string) error {
	if err := w.checkPart(name); err != nil {
		return err
	}
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
