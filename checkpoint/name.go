package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
)

// ID numbers the checkpoints and savepoints of a job, from 1 up. It grows over all
// attempts: a number is never used twice in a store.
type ID uint64

// BlobName is the name of a blob in a store. It holds integers only, so no name can
// lead out of the store.
type BlobName struct {
	Epoch      uint64 // the attempt that wrote it; a stale attempt cannot meet the names of a newer one
	Checkpoint ID     // the checkpoint that it was written for
	Subtask    uint32 // number of the writing subtask within the job
	Seq        uint32 // number of the blob among those of the subtask and checkpoint
}

// String returns the name that stores use, such as e3-c17-s2-0.
func (n BlobName) String() string {
	return fmt.Sprintf("e%d-c%d-s%d-%d", n.Epoch, n.Checkpoint, n.Subtask, n.Seq)
}

// ParseBlobName is the inverse of String. It accepts exactly what String returns.
func ParseBlobName(s string) (BlobName, bool) {
	fields := strings.Split(s, "-")
	if len(fields) != 4 {
		return BlobName{}, false
	}
	var v [4]uint64
	for i, prefix := range []string{"e", "c", "s", ""} {
		digits, ok := strings.CutPrefix(fields[i], prefix)
		if !ok {
			return BlobName{}, false
		}
		bits := 64
		if i >= 2 {
			bits = 32
		}
		var err error
		if v[i], err = strconv.ParseUint(digits, 10, bits); err != nil {
			return BlobName{}, false
		}
	}
	n := BlobName{Epoch: v[0], Checkpoint: ID(v[1]), Subtask: uint32(v[2]), Seq: uint32(v[3])}
	return n, n.String() == s
}

// Compare orders names by epoch, checkpoint, subtask and sequence.
func (n BlobName) Compare(m BlobName) int {
	pairs := [4][2]uint64{
		{n.Epoch, m.Epoch},
		{uint64(n.Checkpoint), uint64(m.Checkpoint)},
		{uint64(n.Subtask), uint64(m.Subtask)},
		{uint64(n.Seq), uint64(m.Seq)},
	}
	for _, p := range pairs {
		switch {
		case p[0] < p[1]:
			return -1
		case p[0] > p[1]:
			return 1
		}
	}
	return 0
}

const (
	blobSuffix     = ".blob"
	manifestSuffix = ".manifest"
)

// ParseManifestName is the inverse of ManifestName. It accepts exactly what that returns.
func ParseManifestName(s string) (ID, bool) {
	digits, ok := strings.CutSuffix(s, manifestSuffix)
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseUint(strings.TrimPrefix(digits, "c"), 10, 64)
	return ID(id), err == nil && ManifestName(ID(id)) == s
}

// ManifestName is the name of a checkpoint's manifest in a store, such as c17.manifest.
func ManifestName(id ID) string { return "c" + strconv.FormatUint(uint64(id), 10) + manifestSuffix }
