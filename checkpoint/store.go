package checkpoint

import (
	"context"
	"io"
)

// Blobs reads and writes blobs, and reads manifests. Any process of a job may have
// one, at any time, for the same store. Several goroutines may use it at once.
type Blobs interface {
	// Create begins a blob. The name must be new: a name that is taken fails with
	// ErrExists, here or at Commit. Nothing is visible before Commit.
	Create(ctx context.Context, name BlobName) (BlobWriter, error)

	// Open reads a blob from its beginning. Every block is compared with its checksum
	// before its bytes are returned, and the whole with ref before io.EOF is: damage
	// is a *CorruptError. A blob that is not there is ErrNotFound. The caller closes
	// the reader.
	Open(ctx context.Context, ref BlobRef) (io.ReadCloser, error)

	// Manifest reads the manifest of a checkpoint, which is then the caller's.
	// ErrNotFound, *CorruptError or *VersionError say why it cannot.
	Manifest(ctx context.Context, id ID) (*Manifest, error)
}

// BlobWriter writes one blob. It belongs to one goroutine, which must call Commit or
// Abort. After a failed Write or Commit only Abort is of use.
type BlobWriter interface {
	// Write appends p, which is lent. It may keep up to a block in memory.
	io.Writer

	// Commit makes the blob durable and returns its reference. If it fails the blob
	// may not be referred to; what it left is removed now or by Sweep.
	Commit() (BlobRef, error)

	// Abort gives up the blob and removes what was written. It does nothing after
	// Commit, so it may be deferred.
	Abort()
}

// Grower is a BlobWriter that may be told how much will be written.
type Grower interface {
	// Grow says that n bytes more will come, or about as many.
	Grow(n int64)
}

// Store keeps the checkpoints of one job. One process at a time has it: the
// coordinator's.
type Store interface {
	Blobs

	// Publish makes a checkpoint durable, then visible, as a whole. The manifest is
	// lent. All blobs that it refers to must be there (*MissingError), and the ID
	// must be new (ErrExists). If it fails, nothing is visible and no older
	// checkpoint is touched, unless the error is a *DoubtError: then opening the
	// store again tells.
	Publish(ctx context.Context, m *Manifest) error

	// List returns what is in the store, newest first. Damaged ones are listed as such.
	List(ctx context.Context) ([]Summary, error)

	// Latest returns the newest manifest that is whole and all of whose blobs are
	// there in the right size. The second result says, newest first, which ones were
	// passed over and why. It is ErrNotFound if none is left, and another error if the
	// store could not be asked.
	Latest(ctx context.Context) (*Manifest, []error, error)

	// Drop forgets a checkpoint and removes the blobs that no other one in the store
	// refers to. ErrNotFound if it is not there. One that is being made and refers to
	// blobs of this one must be published, or given up, before. The checkpoint is forgotten first:
	// what a crash or a failure leaves over is removed by Sweep, and its manifest by
	// the next Drop of the same ID or by opening the store.
	Drop(ctx context.Context, id ID) error

	// Sweep removes blobs that no manifest refers to and for which keep returns
	// false: those of crashed and aborted attempts. keep must return true for blobs
	// of checkpoints that are still being made. It returns how many were removed.
	Sweep(ctx context.Context, keep func(BlobName) bool) (removed int, err error)

	// Verify reads all of a checkpoint and compares all checksums.
	Verify(ctx context.Context, id ID) error

	// Close releases the store. Blobs being read or written must be closed before.
	Close() error
}

// Mender is a Store that need not be opened again after a failure that left it broken.
type Mender interface {
	// Mend finds out what is in the store, checkpoints in doubt included, and lets it take
	// changes again, as closing and opening it would. Blobs may be read meanwhile, and no
	// checkpoint may be in the making. It does nothing to a store that is not broken. If it
	// fails, the store is as it was, and it may be tried again.
	Mend(ctx context.Context) error
}

// Summary is what List tells of a checkpoint. Of a damaged one, ID and Damaged are
// set, and the rest as far as it is known.
type Summary struct {
	ID        ID
	Epoch     uint64
	Kind      Kind
	Mode      string
	Job       string
	Triggered int64 // Unix nanoseconds
	Completed int64 // Unix nanoseconds
	Stats     Stats
	Blobs     int   // number of blobs that it refers to
	Stored    int64 // bytes of those in the store, shared ones included
	Damaged   error // why it cannot be read, nil if it can
}

// Summarize returns the summary of a manifest.
func Summarize(m *Manifest) Summary {
	s := Summary{
		ID: m.ID, Epoch: m.Epoch, Kind: m.Kind, Mode: m.Mode, Job: m.Job,
		Triggered: m.Triggered, Completed: m.Completed, Stats: m.Stats,
	}
	for _, ref := range m.BlobSet() {
		s.Blobs++
		s.Stored += ref.Stored
	}
	return s
}
