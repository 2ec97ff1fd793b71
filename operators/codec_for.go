package operators

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"
)

var (
	// ErrNoCodec: a type has no codec of its own; give it one.
	ErrNoCodec = errors.New("type cannot be encoded")
	// ErrDecode: bytes are not what the codec wrote.
	ErrDecode = errors.New("bytes do not decode")
)

// CodecFor returns the codec of a type: a copy of the memory for types without
// pointers and padding, views for strings and byte slices, protobuf for messages,
// and otherwise a codec compiled once from the type's fields. An error names the
// field that cannot be encoded.
func CodecFor[T any]() (Codec[T], error) {
	t := reflect.TypeFor[T]()
	var c any
	switch {
	case t == reflect.TypeFor[string]():
		c = StringCodec{}
	case t == reflect.TypeFor[[]byte]():
		c = BytesCodec{}
	case t.Implements(reflect.TypeFor[proto.Message]()):
		return newProtoCodec[T](t)
	case flat(t) && littleEndian():
		return fixedCodec[T]{fingerprint: layoutHash(t.String() + " " + layout(t))}, nil
	default:
		return newStructCodec[T](t)
	}
	return c.(Codec[T]), nil
}

// PointerFree reports whether values of T hold no pointers, so that a copy shares
// nothing with the original.
func PointerFree[T any]() bool { return pointerFree(reflect.TypeFor[T]()) }

func pointerFree(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return pointerFree(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !pointerFree(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
	}
}

// flat reports whether values of t can be copied as they lie in memory: without
// pointers, and without padding, whose bytes are anything.
func flat(t reflect.Type) bool { return pointerFree(t) && used(t) == t.Size() && !hasBool(t) }

// used is the number of bytes of t that are not padding.
func used(t reflect.Type) uintptr {
	switch t.Kind() {
	case reflect.Array:
		return uintptr(t.Len()) * used(t.Elem())
	case reflect.Struct:
		var n uintptr
		for i := range t.NumField() {
			n += used(t.Field(i).Type)
		}
		return n
	default:
		return t.Size()
	}
}

// hasBool reports whether t contains a bool: damaged bytes must not become one that
// is neither true nor false.
func hasBool(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool:
		return true
	case reflect.Array:
		return hasBool(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasBool(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// layout describes a type's encoding: what a fingerprint is made from.
func layout(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layout(t.Elem()))
	case reflect.Slice:
		return "[]" + layout(t.Elem())
	case reflect.Pointer:
		return "*" + layout(t.Elem())
	case reflect.Map:
		return "map[" + layout(t.Key()) + "]" + layout(t.Elem())
	case reflect.Struct:
		s := "{"
		for i := range t.NumField() {
			f := t.Field(i)
			s += f.Name + " " + layout(f.Type) + ";"
		}
		return s + "}"
	default:
		return t.Kind().String()
	}
}

func layoutHash(s string) uint64 { return xxh3.HashString(s) }

func errSize(src []byte, want int) error {
	return fmt.Errorf("%w: %d bytes, want %d", ErrDecode, len(src), want)
}
