package checkpoint

import (
	"encoding/binary"
	"math"
	"slices"
)

// entry is what the catalogue keeps of a manifest.
type entry struct {
	sum     uint32 // CRC32C of the manifest's file
	summary Summary
	blobs   []BlobRef // each once, Name and Stored only
}

func newEntry(m *Manifest, file []byte) entry {
	e := entry{sum: fileSum(file), summary: Summarize(m)}
	for name, ref := range m.BlobSet() {
		e.blobs = append(e.blobs, BlobRef{Name: name, Stored: ref.Stored})
	}
	slices.SortFunc(e.blobs, func(a, b BlobRef) int { return a.Name.Compare(b.Name) })
	return e
}

// Keys of the catalogue, numbers big endian so that they sort:
//
//	v                      version of the catalogue, a byte
//	m ID                   entry of a checkpoint
//	r blob ID              that the checkpoint refers to the blob: its size in the store
//	d ID                   that the checkpoint is being dropped: its entry
//
// The owners of a blob are the keys that begin with r and its name. Counting keys
// instead of keeping a number means that nothing can be counted twice.
const (
	keyVersion       = 'v'
	keyEntry         = 'm'
	keyOwner         = 'r'
	keyDropped       = 'd'
	blobKeySize      = 1 + 24
	catalogueVersion = 1
)

func idKey(kind byte, id ID) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(id))
}

// blobKey is the beginning of the keys of a blob's owners.
func blobKey(n BlobName) []byte {
	k := make([]byte, 0, blobKeySize+8)
	k = append(k, keyOwner)
	k = binary.BigEndian.AppendUint64(k, n.Epoch)
	k = binary.BigEndian.AppendUint64(k, uint64(n.Checkpoint))
	k = binary.BigEndian.AppendUint32(k, n.Subtask)
	return binary.BigEndian.AppendUint32(k, n.Seq)
}

func ownerKey(n BlobName, id ID) []byte {
	return binary.BigEndian.AppendUint64(blobKey(n), uint64(id))
}

// parseOwnerKey is the inverse of ownerKey.
func parseOwnerKey(k []byte) (n BlobName, id ID, ok bool) {
	if len(k) != blobKeySize+8 {
		return BlobName{}, 0, false
	}
	n.Epoch = binary.BigEndian.Uint64(k[1:])
	n.Checkpoint = ID(binary.BigEndian.Uint64(k[9:]))
	n.Subtask = binary.BigEndian.Uint32(k[17:])
	n.Seq = binary.BigEndian.Uint32(k[21:])
	return n, ID(binary.BigEndian.Uint64(k[25:])), true
}

// encode returns the entry's value in the catalogue.
func (en entry) encode() []byte {
	var e encoder
	s := &en.summary
	e.uint(uint64(en.sum))
	e.uint(uint64(s.ID))
	e.uint(s.Epoch)
	e.byte(uint8(s.Kind))
	e.string(s.Mode)
	e.string(s.Job)
	e.int(s.Triggered)
	e.int(s.Completed)
	e.stats(&s.Stats)
	e.uint(uint64(len(en.blobs)))
	for _, ref := range en.blobs {
		e.uint(ref.Name.Epoch)
		e.uint(uint64(ref.Name.Checkpoint))
		e.uint(uint64(ref.Name.Subtask))
		e.uint(uint64(ref.Name.Seq))
		e.uint(uint64(ref.Stored))
	}
	return e.b
}

// decodeEntry is the inverse of encode.
func decodeEntry(value []byte) (entry, error) {
	d := &decoder{file: catalogueDir, b: value}
	var en entry
	s := &en.summary
	en.sum = uint32(d.uint(math.MaxUint32))
	s.ID = ID(d.uint(math.MaxUint64))
	s.Epoch = d.uint(math.MaxUint64)
	s.Kind = Kind(d.byte(uint8(Savepoint)))
	s.Mode = d.string()
	s.Job = d.string()
	s.Triggered = d.int()
	s.Completed = d.int()
	d.stats(&s.Stats)
	en.blobs = list(d, 5, func(r *BlobRef) {
		r.Name.Epoch = d.uint(math.MaxUint64)
		r.Name.Checkpoint = ID(d.uint(math.MaxUint64))
		r.Name.Subtask = uint32(d.uint(math.MaxUint32))
		r.Name.Seq = uint32(d.uint(math.MaxUint32))
		r.Stored = int64(d.uint(2 * MaxBlob))
		s.Stored += r.Stored
	})
	s.Blobs = len(en.blobs)
	return en, d.err
}
