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
//	d ID                   that the checkpoint is being dropped: its entry
//
// Who owns a blob follows from the entries: a key for each, as version 1 had them, were
// hundreds for every checkpoint of a job whose chains are long.
const (
	keyVersion       = 'v'
	keyEntry         = 'm'
	keyDropped       = 'd'
	catalogueVersion = 2
)

func idKey(kind byte, id ID) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(id))
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
