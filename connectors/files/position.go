package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// Why an output file cannot be gone on with from a checkpoint.
var (
	// ErrShort says that a file has less than the checkpoint knows of.
	ErrShort = errors.New("it is shorter than at the checkpoint")
	// ErrForeign says that a file is not the one that the checkpoint knows.
	ErrForeign = errors.New("it is not the file of the checkpoint")
)

// tailSize is how many bytes before a position its checksum covers: enough to tell
// another file, and quick to read however long the file is.
const tailSize = 64 << 10

const positionVersion = 1

// position is how far the output to a file was at a checkpoint.
type position struct {
	name   string // of the target, without its folder: folders may move
	length int64
	tail   uint32 // CRC-32C of the last tailSize bytes before length
}

// append is the position in a checkpoint.
func (p position) append(dst []byte) []byte {
	dst = append(dst, positionVersion)
	dst = binary.AppendUvarint(dst, uint64(p.length))
	dst = binary.LittleEndian.AppendUint32(dst, p.tail)
	return append(dst, p.name...)
}

func decodePosition(b []byte) (p position, err error) {
	if len(b) == 0 || b[0] != positionVersion {
		return p, fmt.Errorf("%w of a sink", errPosition)
	}
	length, n := binary.Uvarint(b[1:])
	rest := b[1+max(n, 0):]
	if n <= 0 || int64(length) < 0 || len(rest) <= 4 {
		return p, fmt.Errorf("%w of a sink", errPosition)
	}
	return position{name: string(rest[4:]), length: int64(length), tail: binary.LittleEndian.Uint32(rest)}, nil
}

// check reports whether a file begins with what was written up to the position, and
// how long it is.
func (p position) check(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if size = info.Size(); size < p.length {
		return size, fmt.Errorf("%s: %w: %d of %d bytes", f.Name(), ErrShort, size, p.length)
	}
	tail, err := tailOf(f, p.length)
	if err == nil && tail != p.tail {
		err = fmt.Errorf("%s: %w: its bytes before offset %d are others", f.Name(), ErrForeign, p.length)
	}
	return size, err
}

// tailOf returns the checksum of a position at length.
func tailOf(f *os.File, length int64) (uint32, error) {
	b := make([]byte, min(length, tailSize))
	if _, err := f.ReadAt(b, length-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return crc32.Checksum(b, castagnoli()), nil
}

// castagnoli is the polynomial that processors compute.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
