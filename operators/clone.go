package operators

// Cloner returns a function whose results are no views: the value itself for
// types without pointers, else a copy made by the codec.
func Cloner[T any]() (func(T) T, error) {
	codec, err := CodecFor[T]()
	if err != nil || PointerFree[T]() {
		return func(v T) T { return v }, err
	}
	return func(v T) T {
		clone, err := codec.Decode(codec.Append(nil, v))
		if err != nil {
			panic(err) // a codec that cannot read what it wrote
		}
		return clone
	}, nil
}
