package operators

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
)

// messageCodec encodes pointers to protobuf messages. Their layout is the message's
// name alone: protobuf has its own rules for versions that differ.
type messageCodec[T any] struct {
	typeCodec
	fresh func() T
}

func newMessageCodec[T any](t reflect.Type) (Codec[T], error) {
	if _, err := messageName(t, t.String()); err != nil {
		return nil, err
	}
	return &messageCodec[T]{
		typeCodec: typeCodec{name: t.String(), layout: layout(t)},
		fresh:     func() T { return reflect.New(t.Elem()).Interface().(T) },
	}, nil
}

// messageName returns the full name of a message by the type of its pointer. Types
// that only embed a message, or have no descriptor of their own, are refused.
func messageName(t reflect.Type, path string) (string, error) {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return "", refuse(path, "is a protobuf message but %v is no pointer to one; use the pointer", t)
	}
	m := reflect.New(t.Elem()).Interface().(proto.Message).ProtoReflect()
	if reflect.TypeOf(m.Interface()) != t || m.Descriptor() == nil {
		return "", refuse(path, "is a protobuf message but %v is no generated type; give the operator a codec with WithCodec", t)
	}
	return string(m.Descriptor().FullName()), nil
}

// Append implements Codec. A nil message is an empty one.
func (*messageCodec[T]) Append(dst []byte, v T) []byte { return marshal(dst, any(v).(proto.Message)) }

// marshal appends a message. One that protobuf refuses (invalid UTF-8, say) panics,
// which fails the job with its reason. Maps are sorted: equal messages have equal
// bytes, which matters to keys.
func marshal(dst []byte, m proto.Message) []byte {
	dst, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
	if err != nil {
		panic(fmt.Errorf("operators: a message cannot be encoded: %w", err))
	}
	return dst
}

// Decode implements Codec. The message is new: it may be kept.
func (c *messageCodec[T]) Decode(src []byte) (T, error) {
	v := c.fresh()
	if err := proto.Unmarshal(src, any(v).(proto.Message)); err != nil {
		return v, c.damaged(src, src, badMessage+": "+err.Error())
	}
	return v, nil
}
