package checkpoint

import (
	"errors"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Modes of what a store creates: only the job's user may look at its state.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// privateFS is the system's file system, with modes for the owner alone. Files get
// theirs right after they are created; until then the directory's keeps others out.
type privateFS struct{ vfs.FS }

// Create implements vfs.FS.
func (p privateFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, category)
	if err != nil {
		return f, err
	}
	if err := os.Chmod(name, fileMode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenReadWrite implements vfs.FS.
func (p privateFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := p.FS.OpenReadWrite(name, category, opts...)
	if err != nil {
		return f, err
	}
	if err := os.Chmod(name, fileMode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// MkdirAll implements vfs.FS.
func (p privateFS) MkdirAll(dir string, _ os.FileMode) error { return p.FS.MkdirAll(dir, dirMode) }

// Lock implements vfs.FS.
func (p privateFS) Lock(name string) (io.Closer, error) {
	lock, err := p.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, fileMode); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Unwrap returns the file system below.
func (p privateFS) Unwrap() vfs.FS { return p.FS }
