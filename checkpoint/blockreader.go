package checkpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// BlockReader reads a blob's file and returns no byte whose block it has not
// compared with its checksum. It belongs to one goroutine.
type BlockReader struct {
	codec     *Codec
	r         io.Reader
	ref       BlobRef
	file      string
	sum       *xxh3.Hasher
	blockSize int    // from the header, 0 before
	zstd      bool   // from the header
	stored    []byte // scratch: header of a block and its stored bytes
	raw       []byte // scratch: a decompressed block
	block     []byte // what is left of the block: a view into one of these
	size      int64  // bytes of the blocks so far
	offset    int64  // bytes taken from r
	err       error
}

// Read implements io.Reader. The error is io.EOF only if all of the blob was read
// and is what ref refers to.
func (b *BlockReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(b.block) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.err = b.next()
	}
	n := copy(p, b.block)
	b.block = b.block[n:]
	return n, nil
}

func (b *BlockReader) corrupt(offset int64, format string, args ...any) error {
	return &CorruptError{File: b.file, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// fill reads len(p) bytes of the file.
func (b *BlockReader) fill(p []byte) error {
	n, err := io.ReadFull(b.r, p)
	b.offset += int64(n)
	// Only these very errors say that the file ends: one that wraps them, such as that
	// of a connection which was cut, is a failure to read.
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return b.corrupt(b.offset, "it ends early")
	}
	if err != nil {
		return ioError("read", b.file, err)
	}
	return nil
}

// header reads and checks the file's header.
func (b *BlockReader) header() error {
	var h [blobHeader]byte
	if err := b.fill(h[:]); err != nil {
		return err
	}
	if string(h[:8]) != blobMagic {
		return b.corrupt(0, "it does not begin like a blob")
	}
	if crc32.Checksum(h[:44], castagnoli()) != binary.LittleEndian.Uint32(h[44:]) {
		return b.corrupt(44, "the header's checksum does not match")
	}
	if v := binary.LittleEndian.Uint32(h[8:]); v != blobVersion {
		return &VersionError{File: b.file, Found: v, Known: blobVersion}
	}
	name := BlobName{
		Epoch:      binary.LittleEndian.Uint64(h[16:]),
		Checkpoint: ID(binary.LittleEndian.Uint64(h[24:])),
		Subtask:    binary.LittleEndian.Uint32(h[32:]),
		Seq:        binary.LittleEndian.Uint32(h[36:]),
	}
	if name != b.ref.Name {
		return b.corrupt(16, "it is the file of blob %v", name)
	}
	flags, size := binary.LittleEndian.Uint32(h[12:]), binary.LittleEndian.Uint32(h[40:])
	if flags > flagZstd || size < MinBlockSize || size > MaxBlockSize {
		return b.corrupt(12, "flags %d and block size %d are unknown", flags, size)
	}
	b.zstd, b.blockSize = flags&flagZstd != 0, int(size)
	return nil
}

// next reads the next block, or the trailer: then it returns io.EOF.
func (b *BlockReader) next() error {
	if b.blockSize == 0 {
		if err := b.header(); err != nil {
			return err
		}
		b.stored = make([]byte, blockHeader+b.blockSize)
	}
	start, head := b.offset, b.stored[:blockHeader]
	if err := b.fill(head); err != nil {
		return err
	}
	raw, stored := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	if raw == 0 {
		return b.trailer(start)
	}
	if raw > uint32(b.blockSize) || stored == 0 || stored > raw || stored < raw && !b.zstd {
		return b.corrupt(start, "a block of %d bytes in %d is impossible", raw, stored)
	}
	data := b.stored[blockHeader : blockHeader+int(stored)]
	if err := b.fill(data); err != nil {
		return err
	}
	if placedCRC(start, head[:8], data) != binary.LittleEndian.Uint32(head[8:]) {
		return b.corrupt(start, "a block's checksum does not match")
	}
	if stored < raw {
		var err error
		if data, err = b.unpack(start, data, int(raw)); err != nil {
			return err
		}
	}
	if b.size += int64(raw); b.size > b.ref.Size {
		return b.corrupt(start, "it has more than the %d bytes that were written", b.ref.Size)
	}
	_, _ = b.sum.Write(data) // a hash does not fail
	b.block = data
	return nil
}

// unpack decompresses a block into memory of the size that it declares, and no more.
func (b *BlockReader) unpack(start int64, data []byte, raw int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil || h.HasFCS && h.FrameContentSize != uint64(raw) {
		return nil, b.corrupt(start, "a compressed block does not declare %d bytes", raw)
	}
	dec, err := b.codec.decoder()
	if err != nil {
		return nil, fmt.Errorf("checkpoint: zstd: %w", err)
	}
	if b.raw == nil {
		b.raw = make([]byte, 0, b.blockSize)
	}
	out, err := dec.DecodeAll(data, b.raw[:0:raw])
	if err != nil || len(out) != raw {
		return nil, b.corrupt(start, "a block of %d bytes decompresses to %d (%v)", raw, len(out), err)
	}
	return out, nil
}

// trailer reads the rest of the trailer, of which a block's header has been read,
// and makes sure that it is the end.
func (b *BlockReader) trailer(start int64) error {
	var t [blobTrailer]byte
	copy(t[:], b.stored[:blockHeader])
	if err := b.fill(t[blockHeader:]); err != nil {
		return err
	}
	if placedCRC(start, t[:24]) != binary.LittleEndian.Uint32(t[24:]) {
		return b.corrupt(start, "the trailer's checksum does not match")
	}
	var more [1]byte
	switch n, err := io.ReadFull(b.r, more[:]); {
	case n > 0:
		return b.corrupt(b.offset, "something follows the end")
	case err != io.EOF:
		return ioError("read", b.file, err)
	}
	size, sum := int64(binary.LittleEndian.Uint64(t[8:])), binary.LittleEndian.Uint64(t[16:])
	if size != b.size || sum != b.sum.Sum64() {
		return b.corrupt(start, "its bytes are not those that were written")
	}
	if size != b.ref.Size || sum != b.ref.Sum || b.offset != b.ref.Stored {
		return b.corrupt(start, "it is whole, but not the blob that was referred to")
	}
	return io.EOF
}
