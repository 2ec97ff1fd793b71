package checkpoint

// PartKind says what a part holds, and so who reads it at a restore.
type PartKind uint8

// The kinds of parts.
const (
	Splits        PartKind = iota + 1 // positions of a source's splits
	Keyed                             // keyed state, cut by key groups
	OperatorState                     // state of an operator that no key owns
	Timers                            // timers, cut by key groups
	Commits                           // what a sink has prepared and must commit
	Channels                          // records that were in flight
)

// String returns the kind's name.
func (k PartKind) String() string {
	switch k {
	case Splits:
		return "splits"
	case Keyed:
		return "keyed"
	case OperatorState:
		return "operator"
	case Timers:
		return "timers"
	case Commits:
		return "commits"
	case Channels:
		return "channels"
	}
	return "unknown"
}

// Part is one piece of state of a subtask. It is small and lives in the manifest
// (Inline), or it lives in blobs (Chain), or both.
type Part struct {
	Kind        PartKind
	State       string    // name of the state within the operator
	Fingerprint uint64    // of the state's layout; a restore compares it with the program's
	FirstGroup  int       // first key group that it covers
	EndGroup    int       // one past the last; equal to FirstGroup if the part is not cut by key groups
	Chain       []BlobRef // a full copy first, then increments in the order to apply them
	Inline      []byte    // at most MaxInline bytes; nil if empty
}

// BlobRef refers to a blob that is durable. It has all that is needed to tell that
// the blob is the one that was written.
type BlobRef struct {
	Name       BlobName
	Size       int64  // bytes that a reader gets
	Stored     int64  // bytes that it takes in the store
	Sum        uint64 // XXH3 of the Size bytes
	Compressed bool   // blocks may be compressed
}
