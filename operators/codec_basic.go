package operators

// StringCodec encodes strings as their bytes. Decoded strings are views.
type StringCodec struct{}

// Append implements Codec.
func (StringCodec) Append(dst []byte, v string) []byte { return append(dst, v...) }

// Decode implements Codec.
func (StringCodec) Decode(src []byte) (string, error) { return view(src), nil }

// Fingerprint implements Codec.
func (StringCodec) Fingerprint() uint64 { return layoutHash("string") }

// BytesCodec encodes byte slices as they are. Decoded slices are views.
type BytesCodec struct{}

// Append implements Codec.
func (BytesCodec) Append(dst []byte, v []byte) []byte { return append(dst, v...) }

// Decode implements Codec.
func (BytesCodec) Decode(src []byte) ([]byte, error) { return src, nil }

// Fingerprint implements Codec.
func (BytesCodec) Fingerprint() uint64 { return layoutHash("[]byte") }
