package checkpoint

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// The file of a blob, integers little endian:
//
//	header   8  magic "OVTBLOB1"
//	         4  version
//	         4  flags: 1 if blocks may be compressed
//	         8  epoch, 8 checkpoint, 4 subtask, 4 seq: the blob's name
//	         4  block size
//	         4  CRC32C of the header before this
//	block    4  bytes before compression, 1 to the block size
//	         4  bytes stored, the same if the block is not compressed
//	         4  CRC32C of the block's offset (8 bytes), the two numbers and the stored bytes
//	            stored bytes
//	trailer  8  zeros
//	         8  bytes of the blob, 8 XXH3 of them
//	         4  CRC32C of the trailer's offset (8 bytes) and the trailer before this
//
// Nothing follows the trailer. The offset is under the checksums so that blocks
// cannot change places.
const (
	blobMagic     = "OVTBLOB1"
	blobVersion   = 1
	flagZstd      = 1
	blobHeader    = 48
	blockHeader   = 12
	blobTrailer   = 28
	maxZstdMemory = 2 * MaxBlockSize
)

// Codec writes and reads the files of blobs. Stores share it; it may be used by
// several goroutines at once.
type Codec struct {
	compress  bool
	blockSize int
	blocks    sync.Pool // of *[]byte: memory of writers that have finished

	// zstd's working memory is large, so it is made when it is needed, once.
	encoder func() (*zstd.Encoder, error)
	decoder func() (*zstd.Decoder, error)
}

// NewCodec returns a codec that writes as Options.Compress and Options.BlockSize say.
// It reads whatever any codec has written.
func NewCodec(o Options) (*Codec, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Codec{compress: o.Compress, blockSize: o.BlockSize}
	if c.blockSize == 0 {
		c.blockSize = DefaultBlockSize
	}
	c.encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithWindowSize(MaxBlockSize))
	})
	c.decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxZstdMemory), zstd.WithDecodeAllCapLimit(true))
	})
	return c, nil
}

// Writer returns a writer of the blob's file to w, which it neither syncs nor closes.
func (c *Codec) Writer(w io.Writer, name BlobName) *BlockWriter {
	b := &BlockWriter{codec: c, w: w, name: name, sum: xxh3.New()}
	if used, ok := c.blocks.Get().(*[]byte); ok {
		b.block = *used
	} else {
		b.block = make([]byte, blockHeader, blockHeader+c.blockSize)
	}
	return b
}

// Reader returns a reader of the blob that ref refers to, from its file r, which it
// does not close. Errors call the file by the given name.
func (c *Codec) Reader(r io.Reader, ref BlobRef, file string) *BlockReader {
	return &BlockReader{codec: c, r: r, ref: ref, file: file, sum: xxh3.New()}
}

// header returns the header of a blob's file.
func (c *Codec) header(name BlobName) []byte {
	b := make([]byte, 0, blobHeader)
	b = append(b, blobMagic...)
	b = binary.LittleEndian.AppendUint32(b, blobVersion)
	var flags uint32
	if c.compress {
		flags = flagZstd
	}
	b = binary.LittleEndian.AppendUint32(b, flags)
	b = binary.LittleEndian.AppendUint64(b, name.Epoch)
	b = binary.LittleEndian.AppendUint64(b, uint64(name.Checkpoint))
	b = binary.LittleEndian.AppendUint32(b, name.Subtask)
	b = binary.LittleEndian.AppendUint32(b, name.Seq)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.blockSize))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

// placedCRC is the CRC32C of an offset and the parts that stand there.
func placedCRC(offset int64, parts ...[]byte) uint32 {
	var place [8]byte
	binary.LittleEndian.PutUint64(place[:], uint64(offset))
	crc := crc32.Checksum(place[:], castagnoli())
	for _, p := range parts {
		crc = crc32.Update(crc, castagnoli(), p)
	}
	return crc
}
