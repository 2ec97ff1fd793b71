package operators

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
)

// protoCodec encodes pointers to protobuf messages.
type protoCodec[T any] struct {
	fresh       func() T
	fingerprint uint64
}

func newProtoCodec[T any](t reflect.Type) (Codec[T], error) {
	if t.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("%w: %v is a protobuf interface; use the pointer to a message", ErrNoCodec, t)
	}
	c := protoCodec[T]{fresh: func() T { return reflect.New(t.Elem()).Interface().(T) }}
	name := any(c.fresh()).(proto.Message).ProtoReflect().Descriptor().FullName()
	c.fingerprint = layoutHash("proto " + string(name))
	return c, nil
}

// Append implements Codec. A message that protobuf refuses (invalid UTF-8, say)
// panics, which fails the job with its reason.
func (protoCodec[T]) Append(dst []byte, v T) []byte {
	out, err := proto.MarshalOptions{}.MarshalAppend(dst, any(v).(proto.Message))
	if err != nil {
		panic(err)
	}
	return out
}

// Decode implements Codec. The message is new: it may be kept.
func (c protoCodec[T]) Decode(src []byte) (T, error) {
	v := c.fresh()
	if err := proto.Unmarshal(src, any(v).(proto.Message)); err != nil {
		return v, fmt.Errorf("%w: %w", ErrDecode, err)
	}
	return v, nil
}

// Fingerprint implements Codec.
func (c protoCodec[T]) Fingerprint() uint64 { return c.fingerprint }
