package checkpoint

import "time"

// ManifestVersion is the version of the encoding that this package writes, and the
// only one so far.
const ManifestVersion = 1

// Kind says who decides how long a manifest is kept.
type Kind uint8

// The kinds of a manifest.
const (
	Checkpoint Kind = iota // made and dropped by the job
	Savepoint              // made for a user, who drops it
)

// String returns "checkpoint" or "savepoint".
func (k Kind) String() string {
	if k == Savepoint {
		return "savepoint"
	}
	return "checkpoint"
}

// Manifest is all that is known of a checkpoint: who saved what and where it is.
// Times are Unix nanoseconds.
type Manifest struct {
	Version        uint32 // of the encoding; Publish sets it, 0 means ManifestVersion
	Job            string
	ID             ID     // at least 1
	Epoch          uint64 // the attempt that made it
	Kind           Kind
	Mode           string // the job's checkpoint mode, such as "aligned"
	Triggered      int64
	Completed      int64
	MaxParallelism int // number of key groups
	Operators      []Operator
	Stats          Stats
}

// Stats say what a checkpoint cost.
type Stats struct {
	Duration  time.Duration // from the trigger to the last acknowledgement
	SyncPause time.Duration // longest time that a subtask processed nothing
	Align     time.Duration // longest time that a subtask waited for barriers
	FullBytes int64         // all bytes that a restore reads
	NewBytes  int64         // those that this checkpoint wrote
}

// Operator is what the subtasks of one operator saved.
type Operator struct {
	UID         string // stable identity, by which state finds its operator again
	Name        string // for people
	Parallelism int
	Subtasks    []Subtask // those that saved something; at most Parallelism
}

// Subtask is what one subtask saved.
type Subtask struct {
	Index    int  // among the operator's subtasks, from 0
	Finished bool // it had ended: there is nothing left to do for it
	Parts    []Part
}

// Blobs calls f with every reference to a blob, in the manifest's order. A blob that
// several parts share is reported for each.
func (m *Manifest) Blobs(f func(BlobRef)) {
	for i := range m.Operators {
		for j := range m.Operators[i].Subtasks {
			for _, p := range m.Operators[i].Subtasks[j].Parts {
				for _, ref := range p.Chain {
					f(ref)
				}
			}
		}
	}
}

// BlobSet returns each blob that the manifest refers to once.
func (m *Manifest) BlobSet() map[BlobName]BlobRef {
	set := map[BlobName]BlobRef{}
	m.Blobs(func(ref BlobRef) { set[ref.Name] = ref })
	return set
}
