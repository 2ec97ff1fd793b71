package checkpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// The file of a manifest, integers little endian:
//
//	0   8  magic "OVTMANIF"
//	8   4  version
//	12  8  bytes of the body
//	20  4  CRC32C of the body
//	24  4  CRC32C of bytes 0..23
//	28     body
//
// The body is, in the order of the fields of Manifest without Version: unsigned
// numbers and counts as uvarint, times as varint, fingerprints and sums as 8 bytes,
// strings and bytes with their length as uvarint in front, flags and kinds as a byte.
const (
	manifestMagic  = "OVTMANIF"
	manifestHeader = 28
)

// castagnoli returns the table of CRC32C, which the hash package keeps.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// EncodeManifest returns the file of a manifest. The error is an *InvalidError if
// the manifest exceeds a limit or contradicts itself.
func EncodeManifest(m *Manifest) ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	e := encoder{b: make([]byte, manifestHeader, 4096)}
	e.manifest(m)
	if len(e.b) > MaxManifest {
		return nil, &InvalidError{Checkpoint: m.ID, Problems: []error{
			fmt.Errorf("it takes %d bytes, more than %d: put less inline", len(e.b), MaxManifest)}}
	}
	body := e.b[manifestHeader:]
	copy(e.b, manifestMagic)
	binary.LittleEndian.PutUint32(e.b[8:], ManifestVersion)
	binary.LittleEndian.PutUint64(e.b[12:], uint64(len(body)))
	binary.LittleEndian.PutUint32(e.b[20:], crc32.Checksum(body, castagnoli()))
	binary.LittleEndian.PutUint32(e.b[24:], crc32.Checksum(e.b[:24], castagnoli()))
	return e.b, nil
}

// encoder appends to b.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)     { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) fixed(v uint64)  { e.b = binary.LittleEndian.AppendUint64(e.b, v) }
func (e *encoder) byte(v uint8)    { e.b = append(e.b, v) }
func (e *encoder) bytes(v []byte)  { e.uint(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) string(v string) { e.uint(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) bool(v bool) {
	if v {
		e.byte(1)
	} else {
		e.byte(0)
	}
}

func (e *encoder) manifest(m *Manifest) {
	e.string(m.Job)
	e.uint(uint64(m.ID))
	e.uint(m.Epoch)
	e.byte(uint8(m.Kind))
	e.string(m.Mode)
	e.int(m.Triggered)
	e.int(m.Completed)
	e.uint(uint64(m.MaxParallelism))
	e.uint(uint64(len(m.Operators)))
	for i := range m.Operators {
		e.operator(&m.Operators[i])
	}
	e.stats(&m.Stats)
}

func (e *encoder) stats(s *Stats) {
	e.uint(uint64(s.Duration))
	e.uint(uint64(s.SyncPause))
	e.uint(uint64(s.Align))
	e.uint(uint64(s.FullBytes))
	e.uint(uint64(s.NewBytes))
}

func (e *encoder) operator(o *Operator) {
	e.string(o.UID)
	e.string(o.Name)
	e.uint(uint64(o.Parallelism))
	e.uint(uint64(len(o.Subtasks)))
	for i := range o.Subtasks {
		s := &o.Subtasks[i]
		e.uint(uint64(s.Index))
		e.bool(s.Finished)
		e.uint(uint64(len(s.Parts)))
		for j := range s.Parts {
			e.part(&s.Parts[j])
		}
	}
}

func (e *encoder) part(p *Part) {
	e.byte(uint8(p.Kind))
	e.string(p.State)
	e.fixed(p.Fingerprint)
	e.uint(uint64(p.FirstGroup))
	e.uint(uint64(p.EndGroup))
	e.uint(uint64(len(p.Chain)))
	for _, ref := range p.Chain {
		e.uint(ref.Name.Epoch)
		e.uint(uint64(ref.Name.Checkpoint))
		e.uint(uint64(ref.Name.Subtask))
		e.uint(uint64(ref.Name.Seq))
		e.uint(uint64(ref.Size))
		e.uint(uint64(ref.Stored))
		e.fixed(ref.Sum)
		e.bool(ref.Compressed)
	}
	e.bytes(p.Inline)
}
