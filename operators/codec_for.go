package operators

import (
	"errors"
	"reflect"

	"google.golang.org/protobuf/proto"
)

// ErrNoCodec says that a type has no codec of its own: give it one.
var ErrNoCodec = errors.New("type cannot be encoded")

// CodecFor returns the codec of a type, compiled once: a copy of the memory for types
// without pointers and padding, views for strings and byte slices, protobuf for
// pointers to messages, and otherwise the fields in order. Numbers, bools, strings,
// slices, arrays, maps, pointers, structs, time.Time and protobuf messages can be
// encoded, in any combination; a type cannot contain itself. An error names the field
// that cannot.
//
// Two things do not survive: a time.Time is an instant, in UTC, and a nil []byte that
// is a whole record comes back empty.
func CodecFor[T any]() (Codec[T], error) {
	t := reflect.TypeFor[T]()
	switch {
	case t.Kind() == reflect.String:
		return &textCodec[T]{typeCodec{name: t.String(), layout: layout(t)}}, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return &blobCodec[T]{typeCodec{name: t.String(), layout: layout(t)}}, nil
	case t.Implements(reflect.TypeFor[proto.Message]()):
		return newMessageCodec[T](t)
	}
	p, err := compile(t, t.String(), nil)
	if err == nil && !littleEndian() {
		err = refuse(t.String(), "needs a little-endian machine; give the operator a codec with WithCodec")
	}
	if err != nil {
		return nil, err
	}
	base := typeCodec{name: t.String(), layout: layout(t)}
	if p.copies(t) {
		return &fixedCodec[T]{base}, nil
	}
	return &programCodec[T]{base, p}, nil
}

// PointerFree reports whether values of T hold no pointers, so that a copy shares
// nothing with the original.
func PointerFree[T any]() bool { return pointerFree(reflect.TypeFor[T]()) }
