package checkpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"time"
)

// DecodeManifest reads what EncodeManifest has written; file names it in errors. The
// result shares no memory with data. Whatever data holds, the memory taken is
// bounded by a small multiple of its size, and the error is a *CorruptError or a
// *VersionError.
func DecodeManifest(file string, data []byte) (*Manifest, error) {
	body, err := manifestBody(file, data)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: file, b: body}
	m := d.manifest()
	if d.err == nil && d.off < len(d.b) {
		d.fail("%d bytes too many", len(d.b)-d.off)
	}
	if d.err != nil {
		return nil, d.err
	}
	if err := m.Validate(); err != nil {
		return nil, &CorruptError{File: file, Offset: manifestHeader, Reason: err.Error()}
	}
	return m, nil
}

// manifestBody checks the envelope.
func manifestBody(file string, data []byte) ([]byte, error) {
	corrupt := func(offset int, format string, args ...any) error {
		return &CorruptError{File: file, Offset: int64(offset), Reason: fmt.Sprintf(format, args...)}
	}
	if len(data) < manifestHeader {
		return nil, corrupt(len(data), "it ends within the header")
	}
	if string(data[:8]) != manifestMagic {
		return nil, corrupt(0, "it does not begin like a manifest")
	}
	if got := crc32.Checksum(data[:24], castagnoli()); got != binary.LittleEndian.Uint32(data[24:]) {
		return nil, corrupt(24, "the header's checksum does not match")
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != ManifestVersion {
		return nil, &VersionError{File: file, Found: v, Known: ManifestVersion}
	}
	body := data[manifestHeader:]
	if n := binary.LittleEndian.Uint64(data[12:]); n != uint64(len(body)) {
		return nil, corrupt(len(data), "it has %d bytes after the header and should have %d", len(body), n)
	}
	if got := crc32.Checksum(body, castagnoli()); got != binary.LittleEndian.Uint32(data[20:]) {
		return nil, corrupt(manifestHeader, "the checksum does not match")
	}
	return body, nil
}

// decoder reads b from off. After the first error all values are zero.
type decoder struct {
	file string
	b    []byte
	off  int
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = &CorruptError{File: d.file, Offset: int64(manifestHeader + d.off), Reason: fmt.Sprintf(format, args...)}
	}
}

func (d *decoder) rest() []byte {
	if d.err != nil {
		return nil
	}
	return d.b[d.off:]
}

// uint reads a number of at most limit.
func (d *decoder) uint(limit uint64) uint64 {
	v, n := binary.Uvarint(d.rest())
	if n <= 0 || v > limit {
		d.fail("a number is cut off or more than %d", limit)
		return 0
	}
	d.off += n
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.rest())
	if n <= 0 {
		d.fail("a number is cut off")
		return 0
	}
	d.off += n
	return v
}

func (d *decoder) fixed() uint64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) byte(limit uint8) uint8 {
	b := d.take(1)
	if b == nil {
		return 0
	}
	if b[0] > limit {
		d.fail("%d where at most %d is known", b[0], limit)
		return 0
	}
	return b[0]
}

// take returns the next n bytes, nil if there are less.
func (d *decoder) take(n int) []byte {
	rest := d.rest()
	if len(rest) < n {
		d.fail("it ends early")
		return nil
	}
	d.off += n
	return rest[:n]
}

func (d *decoder) bytes(limit uint64) []byte {
	n := int(d.uint(limit))
	if n == 0 {
		return nil
	}
	return append([]byte(nil), d.take(n)...)
}

func (d *decoder) string() string { return string(d.take(int(d.uint(MaxName)))) }

// count reads the number of items that follow, each of at least size bytes. So it
// cannot be more than what is left has room for.
func (d *decoder) count(size int) int {
	n := d.uint(MaxManifest)
	if n > uint64(len(d.rest())/size) {
		d.fail("%d items where %d bytes are left", n, len(d.rest()))
		return 0
	}
	return int(n)
}

// list reads a list of items of at least size bytes each.
func list[T any](d *decoder, size int, item func(*T)) []T {
	n := d.count(size)
	if n == 0 {
		return nil
	}
	// Items are larger in memory than in the file: damage that a checksum misses must
	// not make that a large allocation at once.
	all := make([]T, 0, min(n, 256))
	for range n {
		var v T
		item(&v)
		if d.err != nil {
			return nil
		}
		all = append(all, v)
	}
	return all
}

func (d *decoder) manifest() *Manifest {
	m := &Manifest{Version: ManifestVersion}
	m.Job = d.string()
	m.ID = ID(d.uint(math.MaxUint64))
	m.Epoch = d.uint(math.MaxUint64)
	m.Kind = Kind(d.byte(uint8(Savepoint)))
	m.Mode = d.string()
	m.Triggered = d.int()
	m.Completed = d.int()
	m.MaxParallelism = int(d.uint(MaxParallelism))
	m.Operators = list(d, 4, d.operator)
	d.stats(&m.Stats)
	return m
}

func (d *decoder) stats(s *Stats) {
	s.Duration = time.Duration(d.uint(math.MaxInt64))
	s.SyncPause = time.Duration(d.uint(math.MaxInt64))
	s.Align = time.Duration(d.uint(math.MaxInt64))
	s.FullBytes = int64(d.uint(math.MaxInt64))
	s.NewBytes = int64(d.uint(math.MaxInt64))
}

func (d *decoder) operator(o *Operator) {
	o.UID = d.string()
	o.Name = d.string()
	o.Parallelism = int(d.uint(MaxParallelism))
	o.Subtasks = list(d, 3, func(s *Subtask) {
		s.Index = int(d.uint(MaxParallelism))
		s.Finished = d.byte(1) == 1
		s.Parts = list(d, 14, d.part)
	})
}

func (d *decoder) part(p *Part) {
	p.Kind = PartKind(d.byte(uint8(Channels)))
	p.State = d.string()
	p.Fingerprint = d.fixed()
	p.FirstGroup = int(d.uint(MaxParallelism))
	p.EndGroup = int(d.uint(MaxParallelism))
	p.Chain = list(d, 15, d.ref)
	p.Inline = d.bytes(MaxInline)
}

func (d *decoder) ref(r *BlobRef) {
	r.Name.Epoch = d.uint(math.MaxUint64)
	r.Name.Checkpoint = ID(d.uint(math.MaxUint64))
	r.Name.Subtask = uint32(d.uint(math.MaxUint32))
	r.Name.Seq = uint32(d.uint(math.MaxUint32))
	r.Size = int64(d.uint(MaxBlob))
	r.Stored = int64(d.uint(2 * MaxBlob))
	r.Sum = d.fixed()
	r.Compressed = d.byte(1) == 1
}
