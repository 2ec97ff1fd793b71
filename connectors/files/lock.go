package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrInUse says that another job or subtask writes to the same place.
var ErrInUse = errors.New("another job or subtask is writing there")

// lock opens a file to read and write, made if there is none, for this caller alone
// until release or the end of the process, whichever way that ends. Where there are no
// such locks (systems other than Linux, some file systems) it only opens the file.
func lock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := flock(f); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
		// Whoever had the lock may have renamed or removed the file meanwhile.
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, release(f))
		}
		present, err := os.Stat(path)
		if err == nil && os.SameFile(mine, present) {
			return f, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, release(f))
		}
		if err := release(f); err != nil {
			return nil, err
		}
	}
}

// release unlocks and closes. Closing alone is not enough: a process that is just being
// started may have a copy of the descriptor for a moment.
func release(f *os.File) error { return errors.Join(funlock(f), f.Close()) }
