package operators

import (
	"fmt"
	"reflect"
)

// structCodec encodes any other type by its fields, in order: numbers little-endian
// in their own width, lengths as uvarints, pointers as a byte 0 or 1 and what they
// point to, maps sorted by their encoded keys. The steps are compiled once.
type structCodec[T any] struct {
	step        step
	fingerprint uint64
}

// step encodes and decodes one kind of value.
type step struct {
	append func(dst []byte, v reflect.Value) []byte
	decode func(src []byte, v reflect.Value) (rest []byte, err error)
}

func newStructCodec[T any](t reflect.Type) (Codec[T], error) {
	s, err := compile(t, t.String(), 0)
	if err != nil {
		return nil, err
	}
	return &structCodec[T]{step: s, fingerprint: layoutHash(t.String() + " " + layout(t))}, nil
}

// Append implements Codec.
func (c *structCodec[T]) Append(dst []byte, v T) []byte {
	return c.step.append(dst, reflect.ValueOf(&v).Elem())
}

// Decode implements Codec. Strings and byte slices are views.
func (c *structCodec[T]) Decode(src []byte) (v T, err error) {
	rest, err := c.step.decode(src, reflect.ValueOf(&v).Elem())
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %d bytes too many for %T", ErrDecode, len(rest), v)
	}
	return v, err
}

// Fingerprint implements Codec.
func (c *structCodec[T]) Fingerprint() uint64 { return c.fingerprint }
