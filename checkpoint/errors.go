package checkpoint

import (
	"errors"
	"fmt"
)

// Reasons that callers can act on. They are wrapped in errors that name the file.
var (
	ErrNotFound = errors.New("checkpoint: not found")
	ErrExists   = errors.New("checkpoint: the name is taken: names in a store are used once")
	ErrOwned    = errors.New("checkpoint: the store is in use by another process or already open in this one: " +
		"stop the other coordinator, or use OpenBlobs to read and write blobs only")
	ErrClosed   = errors.New("checkpoint: the store is closed")
	ErrReadOnly = errors.New("checkpoint: a savepoint is read only: publish into a store and export it")
)

// CorruptError says that a file does not hold what was written.
type CorruptError struct {
	File   string
	Offset int64  // where in the file it was noticed
	Reason string // what is wrong there
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("checkpoint: %s is damaged at offset %d: %s: restore an older checkpoint, or a copy of the file", e.File, e.Offset, e.Reason)
}

// VersionError says that a file was written by a newer version of this package.
type VersionError struct {
	File  string
	Found uint32
	Known uint32 // the newest version that can be read
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("checkpoint: %s has format version %d, and this program reads up to %d: use the program that wrote it, or a newer one", e.File, e.Found, e.Known)
}

// IOError says that the storage failed. The call has failed, nothing else has: older
// checkpoints are as they were.
type IOError struct {
	Op     string // what was being done, such as "sync"
	File   string
	Advice string // what to do about it
	Err    error
}

func (e *IOError) Error() string {
	return fmt.Sprintf("checkpoint: %s %s: %v: %s", e.Op, e.File, e.Err, e.Advice)
}
func (e *IOError) Unwrap() error { return e.Err }

// MissingError says that a blob which a manifest refers to is not there, or not in
// the size that it was written with (Got).
type MissingError struct {
	Checkpoint ID
	Blob       BlobName
	File       string
	Want       int64 // bytes in the store
	Got        int64 // -1 if there is no such blob
}

func (e *MissingError) Error() string {
	if e.Got < 0 {
		return fmt.Sprintf("checkpoint: %d needs %s, which is not there: restore an older checkpoint", e.Checkpoint, e.File)
	}
	return fmt.Sprintf("checkpoint: %d needs %s with %d bytes, and it has %d: restore an older checkpoint", e.Checkpoint, e.File, e.Want, e.Got)
}

// Is makes a missing blob an ErrNotFound.
func (e *MissingError) Is(target error) bool { return target == ErrNotFound && e.Got < 0 }

// InvalidError says that a manifest cannot be published as it is.
type InvalidError struct {
	Checkpoint ID
	Problems   []error
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("checkpoint: the manifest of %d is invalid: %v", e.Checkpoint, errors.Join(e.Problems...))
}
func (e *InvalidError) Unwrap() []error { return e.Problems }

// DoubtError says that the storage failed at the commit point, so that it is not
// known whether the checkpoint will be there after a restart. If it is, it is whole.
// The store refuses further changes until it is mended (Mender), or opened again. A job does
// that when it is restarted.
type DoubtError struct {
	Checkpoint ID
	Err        error
}

func (e *DoubtError) Error() string {
	return fmt.Sprintf("checkpoint: whether %d was published is unknown: restart the job to learn it: %v", e.Checkpoint, e.Err)
}
func (e *DoubtError) Unwrap() error { return e.Err }

// BrokenError says that a change of the store was refused, since an earlier one
// failed in a way (Err) that left the store's view of the disk uncertain. Reading
// goes on. Mender.Mend, or opening the store again, mends it.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string {
	return fmt.Sprintf("checkpoint: the store takes no changes after an earlier failure: restart the job, which mends it: %v", e.Err)
}
func (e *BrokenError) Unwrap() error { return e.Err }
