package operators

import (
	"unsafe"
)

// fixedCodec copies values of a type without pointers and without padding as they
// lie in memory: little-endian on every system that Overtake runs on.
type fixedCodec[T any] struct{ fingerprint uint64 }

// Append implements Codec.
func (fixedCodec[T]) Append(dst []byte, v T) []byte {
	return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))...)
}

// Decode implements Codec.
func (c fixedCodec[T]) Decode(src []byte) (v T, err error) {
	if uintptr(len(src)) != unsafe.Sizeof(v) {
		return v, errSize(src, int(unsafe.Sizeof(v)))
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)), src)
	return v, nil
}

// Fingerprint implements Codec.
func (c fixedCodec[T]) Fingerprint() uint64 { return c.fingerprint }

// view returns b's bytes as a string without copying: valid as long as b is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// littleEndian reports the byte order of this machine.
func littleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}
