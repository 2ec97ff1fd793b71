package operators

import "bytes"

// Cloner returns a function whose results are no views: the value itself for
// types without pointers, else a copy made by the codec. The function belongs to one
// subtask.
func Cloner[T any]() (func(T) T, error) {
	codec, err := CodecFor[T]()
	if err != nil || PointerFree[T]() {
		return func(v T) T { return v }, err
	}
	var scratch []byte
	return func(v T) T {
		scratch = codec.Append(scratch[:0], v)
		clone, err := codec.Decode(bytes.Clone(scratch))
		if err != nil {
			panic(err) // a codec that cannot read what it wrote
		}
		return clone
	}, nil
}
