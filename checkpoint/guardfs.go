package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guardFS is the file system that Pebble sees: one whose writes do not fail.
type guardFS struct {
	vfs.FS
	guard *guard
}

// change changes the file system unless there was a failure. An error of the disk goes
// to the guard; one that says how things are is Pebble's to see.
func (g *guard) change(op, name string, do func() error) error {
	if g.err() != nil {
		return nil
	}
	err := do()
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	g.fail(ioError(op, name, err))
	return nil
}

// open opens a file for writing, or one in memory after a failure.
func (f guardFS) open(op, name string, do func() (vfs.File, error)) (file vfs.File, err error) {
	err = f.guard.change(op, name, func() (err error) {
		file, err = do()
		return err
	})
	if err != nil {
		return nil, err
	}
	if f.guard.err() != nil {
		if file != nil {
			_ = file.Close() // what counts has failed already
		}
		file = vfs.NewMemFile(nil)
	}
	return guardFile{file, f.guard, name}, nil
}

// Create implements vfs.FS.
func (f guardFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.open("create", name, func() (vfs.File, error) { return f.FS.Create(name, category) })
}

// OpenReadWrite implements vfs.FS.
func (f guardFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.open("open", name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, category, opts...) })
}

// ReuseForWrite implements vfs.FS.
func (f guardFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.open("rename", oldname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, category) })
}

// OpenDir implements vfs.FS.
func (f guardFS) OpenDir(name string) (vfs.File, error) {
	return f.open("open", name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

// Link implements vfs.FS.
func (f guardFS) Link(oldname, newname string) error {
	return f.guard.change("link", newname, func() error { return f.FS.Link(oldname, newname) })
}

// Remove implements vfs.FS.
func (f guardFS) Remove(name string) error {
	return f.guard.change("remove", name, func() error { return f.FS.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (f guardFS) RemoveAll(name string) error {
	return f.guard.change("remove", name, func() error { return f.FS.RemoveAll(name) })
}

// Rename implements vfs.FS.
func (f guardFS) Rename(oldname, newname string) error {
	return f.guard.change("rename", oldname, func() error { return f.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (f guardFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.guard.change("create", dir, func() error { return f.FS.MkdirAll(dir, perm) })
}

// Lock implements vfs.FS: the store's own lock covers the catalogue.
func (guardFS) Lock(string) (io.Closer, error) { return unlocked{}, nil }

// Unwrap implements vfs.FS.
func (f guardFS) Unwrap() vfs.FS { return f.FS }

type unlocked struct{}

func (unlocked) Close() error { return nil }

// guardFile is an open file of a guardFS.
type guardFile struct {
	vfs.File
	guard *guard
	name  string
}

// Write implements vfs.File.
func (f guardFile) Write(p []byte) (int, error) {
	err := f.guard.change("write", f.name, func() error {
		n, err := f.File.Write(p)
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
		return err
	})
	return len(p), err
}

// WriteAt implements vfs.File.
func (f guardFile) WriteAt(p []byte, offset int64) (int, error) {
	err := f.guard.change("write", f.name, func() error {
		_, err := f.File.WriteAt(p, offset)
		return err
	})
	return len(p), err
}

// Preallocate implements vfs.File.
func (f guardFile) Preallocate(offset, length int64) error {
	return f.guard.change("write", f.name, func() error { return f.File.Preallocate(offset, length) })
}

// Sync implements vfs.File.
func (f guardFile) Sync() error { return f.guard.change("sync", f.name, f.File.Sync) }

// SyncData implements vfs.File.
func (f guardFile) SyncData() error { return f.guard.change("sync", f.name, f.File.SyncData) }

// SyncTo implements vfs.File.
func (f guardFile) SyncTo(length int64) (full bool, err error) {
	err = f.guard.change("sync", f.name, func() (err error) { full, err = f.File.SyncTo(length); return err })
	return full || f.guard.err() != nil, err
}

// Close implements vfs.File.
func (f guardFile) Close() error {
	if err := f.File.Close(); err != nil {
		f.guard.fail(ioError("close", f.name, err))
	}
	return nil
}
