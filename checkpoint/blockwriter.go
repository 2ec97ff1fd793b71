package checkpoint

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// BlockWriter writes a blob's file, block by block. It belongs to one goroutine.
type BlockWriter struct {
	codec  *Codec
	w      io.Writer
	name   BlobName
	sum    *xxh3.Hasher
	block  []byte // room for the block's header, then what waits for the block to fill
	packed []byte // compressed block, header included
	size   int64  // bytes given to Write
	offset int64  // bytes given to w
	err    error
}

// Write appends p, which is lent.
func (b *BlockWriter) Write(p []byte) (int, error) {
	n := 0
	for b.err == nil && n < len(p) {
		room := cap(b.block) - len(b.block)
		chunk := p[n:min(len(p), n+room)]
		b.block = append(b.block, chunk...)
		n += len(chunk)
		if len(b.block) == cap(b.block) {
			b.flush()
		}
	}
	return n, b.err
}

// Finish writes what is left and returns the reference to the blob, which is as
// durable as the writer below makes it.
func (b *BlockWriter) Finish() (BlobRef, error) {
	if len(b.block) > blockHeader || b.offset == 0 {
		b.flush()
	}
	if b.err != nil {
		return BlobRef{}, b.err
	}
	sum := b.sum.Sum64()
	t := make([]byte, 8, blobTrailer)
	t = binary.LittleEndian.AppendUint64(t, uint64(b.size))
	t = binary.LittleEndian.AppendUint64(t, sum)
	t = binary.LittleEndian.AppendUint32(t, placedCRC(b.offset, t))
	if b.put(t); b.err != nil {
		return BlobRef{}, b.err
	}
	ref := BlobRef{Name: b.name, Size: b.size, Stored: b.offset, Sum: sum, Compressed: b.codec.compress}
	b.err = fmt.Errorf("blob %v is finished", b.name)
	block := b.block[:blockHeader]
	b.block = nil
	b.codec.blocks.Put(&block)
	return ref, nil
}

// flush writes the block, and the file's header before the first.
func (b *BlockWriter) flush() {
	if b.offset == 0 {
		b.put(b.codec.header(b.name))
	}
	raw := b.block[blockHeader:]
	if len(raw) == 0 || b.err != nil {
		return
	}
	if b.size += int64(len(raw)); b.size > MaxBlob {
		b.err = fmt.Errorf("blob %v has more than %d bytes: write several", b.name, int64(MaxBlob))
		return
	}
	_, _ = b.sum.Write(raw) // a hash does not fail
	out := b.pack(b.block, len(raw))
	if b.err != nil {
		return
	}
	binary.LittleEndian.PutUint32(out, uint32(len(raw)))
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-blockHeader))
	binary.LittleEndian.PutUint32(out[8:], placedCRC(b.offset, out[:8], out[blockHeader:]))
	b.put(out)
	b.block = b.block[:blockHeader]
}

// pack returns the block compressed, or as it is if that is not smaller.
func (b *BlockWriter) pack(block []byte, raw int) []byte {
	if !b.codec.compress {
		return block
	}
	enc, err := b.codec.encoder()
	if err != nil {
		b.err = fmt.Errorf("checkpoint: zstd: %w", err)
		return nil
	}
	if b.packed == nil {
		b.packed = make([]byte, blockHeader, cap(block))
	}
	b.packed = enc.EncodeAll(block[blockHeader:], b.packed[:blockHeader])
	if len(b.packed) < blockHeader+raw {
		return b.packed
	}
	return block
}

func (b *BlockWriter) put(p []byte) {
	if b.err != nil {
		return
	}
	n, err := b.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	b.offset += int64(n)
	b.err = err
}
