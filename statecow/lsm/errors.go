package lsm

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

var (
	// ErrLocked matches a *DirError whose directory another store has open.
	ErrLocked = errors.New("statecow/lsm: directory is in use by another store")
	// ErrNotEmpty matches a *DirError whose directory holds files already.
	ErrNotEmpty = errors.New("statecow/lsm: directory is not empty")
	// ErrNoCheckpoint matches a *DirError whose directory holds no complete
	// checkpoint.
	ErrNoCheckpoint = errors.New("statecow/lsm: directory holds no complete checkpoint")
	// ErrDiskFull matches a *DiskError that ran out of space.
	ErrDiskFull = errors.New("statecow/lsm: disk is full")
	// ErrClosed: a store was used after Close.
	ErrClosed = errors.New("statecow/lsm: store was closed")
)

// DirError says why a directory cannot be used.
type DirError struct {
	Dir    string
	Kind   error // ErrLocked, ErrNotEmpty or ErrNoCheckpoint
	Detail string
}

func (e *DirError) Error() string {
	var hint string
	switch e.Kind {
	case ErrLocked:
		hint = "give every store a directory of its own, or end the process that has it"
	case ErrNotEmpty:
		hint = "what is there may be older than the last checkpoint: delete it and open a checkpoint"
	default:
		hint = "copy all files of the checkpoint again, its list last"
	}
	return fmt.Sprintf("%v: %s: %s; %s", e.Kind, e.Dir, e.Detail, hint)
}

// Unwrap returns the kind, for errors.Is.
func (e *DirError) Unwrap() error { return e.Kind }

// DiskError says that writing to or reading from the directory failed. The store
// is of no more use: close it and go on from the last checkpoint.
type DiskError struct {
	Dir  string
	Full bool // no space is left
	Err  error
}

func (e *DiskError) Error() string {
	if e.Full {
		return fmt.Sprintf("statecow/lsm: disk is full: %s: %v; free space or move Options.Dir, then restart from the last checkpoint", e.Dir, e.Err)
	}
	return fmt.Sprintf("statecow/lsm: disk failed: %s: %v; check the device and restart from the last checkpoint", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *DiskError) Unwrap() error { return e.Err }

// Is reports whether target is ErrDiskFull and the disk was full.
func (e *DiskError) Is(target error) bool { return target == ErrDiskFull && e.Full }

// TableError says that a file of the store is damaged or missing. The store is of
// no more use: close it and go on from a checkpoint whose copy of the file is good.
type TableError struct {
	File string // path
	Err  error
}

func (e *TableError) Error() string {
	return fmt.Sprintf("statecow/lsm: file %s is damaged: %v; check the device, delete this copy and restart from a checkpoint", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *TableError) Unwrap() error { return e.Err }

// typed makes a *TableError or *DiskError of an error of Pebble or the file system.
func typed(dir string, err error) error {
	if err == nil {
		return nil
	}
	return typedError(dir, err)
}

func typedError(dir string, err error) error {
	var table *TableError
	var disk *DiskError
	var place *DirError
	switch {
	case errors.As(err, &table), errors.As(err, &disk), errors.As(err, &place):
		return err
	case vfs.IsNoSpaceError(err):
		return &DiskError{Dir: dir, Full: true, Err: err}
	}
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return &TableError{File: info.Path, Err: err}
	}
	if pebble.IsCorruptionError(err) {
		return &TableError{File: pathOf(err, dir), Err: err}
	}
	return &DiskError{Dir: dir, Err: err}
}

// pathOf is the file that an error names, or else its directory.
func pathOf(err error, dir string) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Path
	}
	return dir
}
