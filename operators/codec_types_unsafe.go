package operators

import (
	"unsafe"
)

// fixedCodec copies values that have neither pointers nor padding.
type fixedCodec[T any] struct{ typeCodec }

// Append implements Codec.
func (*fixedCodec[T]) Append(dst []byte, v T) []byte {
	n := len(dst)
	if size := int(unsafe.Sizeof(v)); size > 0 && cap(dst)-n >= size {
		dst = dst[:n+size]
		*(*T)(unsafe.Pointer(unsafe.SliceData(dst[n:]))) = v // no bounds checked, none needed
		return dst
	}
	return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))...)
}

// Decode implements Codec.
func (c *fixedCodec[T]) Decode(src []byte) (v T, err error) {
	if uintptr(len(src)) != unsafe.Sizeof(v) {
		return v, c.wrongSize(src)
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)), src)
	return v, nil
}

// CopySize is the size of every value, in bytes: package statecow changes copies in place.
func (*fixedCodec[T]) CopySize() int {
	var v T
	return int(unsafe.Sizeof(v))
}

func (c *fixedCodec[T]) wrongSize(src []byte) error {
	var v T
	if size := int(unsafe.Sizeof(v)); len(src) > size {
		return c.damaged(src, src[size:], badRest)
	}
	return c.damaged(src, nil, badEnd)
}

// textCodec encodes strings as their bytes. Decoded strings are views.
type textCodec[T any] struct{ typeCodec }

// Append implements Codec.
func (*textCodec[T]) Append(dst []byte, v T) []byte {
	return append(dst, *(*string)(unsafe.Pointer(&v))...)
}

// Decode implements Codec.
func (*textCodec[T]) Decode(src []byte) (T, error) {
	s := view(src)
	return *(*T)(unsafe.Pointer(&s)), nil
}

// blobCodec encodes byte slices as they are. Decoded slices are views.
type blobCodec[T any] struct{ typeCodec }

// Append implements Codec.
func (*blobCodec[T]) Append(dst []byte, v T) []byte {
	return append(dst, *(*[]byte)(unsafe.Pointer(&v))...)
}

// Decode implements Codec.
func (*blobCodec[T]) Decode(src []byte) (T, error) {
	src = src[:len(src):len(src)] // appending to the view must not write behind it
	return *(*T)(unsafe.Pointer(&src)), nil
}

// programCodec encodes all other types.
type programCodec[T any] struct {
	typeCodec
	program *program
}

// Append implements Codec.
func (c *programCodec[T]) Append(dst []byte, v T) []byte {
	return c.program.append(dst, unsafe.Pointer(&v))
}

// Decode implements Codec.
func (c *programCodec[T]) Decode(src []byte) (v T, err error) {
	rest, bad := c.program.decode(src, unsafe.Pointer(&v))
	if bad == "" && len(rest) > 0 {
		bad = badRest
	}
	if bad != "" {
		return v, c.damaged(src, rest, bad)
	}
	return v, nil
}

// view returns b's bytes as a string without copying: valid as long as b is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// littleEndian reports the byte order of this machine.
func littleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}
