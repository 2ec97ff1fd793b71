package operators

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// maxDepth bounds nesting, so that a type which contains itself is refused instead
// of compiled for ever.
const maxDepth = 32

// compile returns the step of a type; path names it in errors.
func compile(t reflect.Type, path string, depth int) (step, error) {
	if depth > maxDepth {
		return step{}, fmt.Errorf("%w: %s nests more than %d deep", ErrNoCodec, path, maxDepth)
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolStep, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return intStep(int(t.Size())), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return uintStep(int(t.Size())), nil
	case reflect.Float32, reflect.Float64:
		return floatStep(int(t.Size())), nil
	case reflect.String:
		return stringStep, nil
	case reflect.Struct:
		return compileStruct(t, path, depth)
	case reflect.Array:
		return compileArray(t, path, depth)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return bytesStep, nil
		}
		return compileSlice(t, path, depth)
	case reflect.Pointer:
		return compilePointer(t, path, depth)
	case reflect.Map:
		return compileMap(t, path, depth)
	default:
		return step{}, fmt.Errorf("%w: %s is a %v; give the operator a codec with WithCodec", ErrNoCodec, path, t)
	}
}

var errShort = fmt.Errorf("%w: they end too early", ErrDecode)

// number makes a step of a fixed width from conversions to and from 64 bits.
func number(width int, get func(reflect.Value) uint64, set func(reflect.Value, uint64)) step {
	return step{
		append: func(dst []byte, v reflect.Value) []byte {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], get(v))
			return append(dst, b[:width]...)
		},
		decode: func(src []byte, v reflect.Value) ([]byte, error) {
			if len(src) < width {
				return nil, errShort
			}
			var b [8]byte
			copy(b[:], src[:width])
			set(v, binary.LittleEndian.Uint64(b[:]))
			return src[width:], nil
		},
	}
}

func intStep(width int) step {
	shift := uint(64 - 8*width)
	return number(width,
		func(v reflect.Value) uint64 { return uint64(v.Int()) },
		func(v reflect.Value, n uint64) { v.SetInt(int64(n<<shift) >> shift) })
}

func uintStep(width int) step {
	return number(width, reflect.Value.Uint, func(v reflect.Value, n uint64) { v.SetUint(n) })
}

func floatStep(width int) step {
	if width == 4 {
		return number(4,
			func(v reflect.Value) uint64 { return uint64(math.Float32bits(float32(v.Float()))) },
			func(v reflect.Value, n uint64) { v.SetFloat(float64(math.Float32frombits(uint32(n)))) })
	}
	return number(8,
		func(v reflect.Value) uint64 { return math.Float64bits(v.Float()) },
		func(v reflect.Value, n uint64) { v.SetFloat(math.Float64frombits(n)) })
}

var boolStep = step{
	append: func(dst []byte, v reflect.Value) []byte {
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	},
	decode: func(src []byte, v reflect.Value) ([]byte, error) {
		if len(src) == 0 || src[0] > 1 {
			return nil, fmt.Errorf("%w: a bool is neither 0 nor 1", ErrDecode)
		}
		v.SetBool(src[0] == 1)
		return src[1:], nil
	},
}

// chunk reads a length and that many bytes.
func chunk(src []byte) (data, rest []byte, err error) {
	n, used := binary.Uvarint(src)
	if used <= 0 || n > uint64(len(src)-used) {
		return nil, nil, errShort
	}
	end := used + int(n)
	return src[used:end:end], src[end:], nil
}

var stringStep = step{
	append: func(dst []byte, v reflect.Value) []byte {
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		return append(dst, v.String()...)
	},
	decode: func(src []byte, v reflect.Value) ([]byte, error) {
		data, rest, err := chunk(src)
		v.SetString(view(data))
		return rest, err
	},
}

var bytesStep = step{
	append: func(dst []byte, v reflect.Value) []byte {
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		return append(dst, v.Bytes()...)
	},
	decode: func(src []byte, v reflect.Value) ([]byte, error) {
		data, rest, err := chunk(src)
		v.SetBytes(data)
		return rest, err
	},
}

func compileStruct(t reflect.Type, path string, depth int) (step, error) {
	fields := make([]step, t.NumField())
	for i := range fields {
		f := t.Field(i)
		if !f.IsExported() {
			return step{}, fmt.Errorf("%w: %s.%s is not exported; export it, or give the operator a codec with WithCodec", ErrNoCodec, path, f.Name)
		}
		var err error
		if fields[i], err = compile(f.Type, path+"."+f.Name, depth+1); err != nil {
			return step{}, err
		}
	}
	return step{
		append: func(dst []byte, v reflect.Value) []byte {
			for i := range fields {
				dst = fields[i].append(dst, v.Field(i))
			}
			return dst
		},
		decode: func(src []byte, v reflect.Value) (_ []byte, err error) {
			for i := range fields {
				if src, err = fields[i].decode(src, v.Field(i)); err != nil {
					return nil, err
				}
			}
			return src, nil
		},
	}, nil
}

func compileArray(t reflect.Type, path string, depth int) (step, error) {
	elem, err := compile(t.Elem(), path+"[]", depth+1)
	return step{
		append: func(dst []byte, v reflect.Value) []byte { return appendAll(dst, v, elem) },
		decode: func(src []byte, v reflect.Value) ([]byte, error) { return decodeAll(src, v, elem) },
	}, err
}

func appendAll(dst []byte, v reflect.Value, elem step) []byte {
	for i := range v.Len() {
		dst = elem.append(dst, v.Index(i))
	}
	return dst
}

func decodeAll(src []byte, v reflect.Value, elem step) (_ []byte, err error) {
	for i := range v.Len() {
		if src, err = elem.decode(src, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// count reads the length of a slice or map. Every element takes at least a byte,
// except of empty types, which are refused when compiled.
func count(src []byte) (n int, rest []byte, err error) {
	u, used := binary.Uvarint(src)
	if used <= 0 || u > uint64(len(src)-used) {
		return 0, nil, errShort
	}
	return int(u), src[used:], nil
}

func refuseEmpty(t reflect.Type, path string) error {
	if t.Size() == 0 {
		return fmt.Errorf("%w: elements of %s take no space", ErrNoCodec, path)
	}
	return nil
}

func compileSlice(t reflect.Type, path string, depth int) (step, error) {
	elem, err := compile(t.Elem(), path+"[]", depth+1)
	if err == nil {
		err = refuseEmpty(t.Elem(), path)
	}
	return step{
		append: func(dst []byte, v reflect.Value) []byte {
			return appendAll(binary.AppendUvarint(dst, uint64(v.Len())), v, elem)
		},
		decode: func(src []byte, v reflect.Value) ([]byte, error) {
			n, rest, err := count(src)
			if err != nil {
				return nil, err
			}
			v.Set(reflect.MakeSlice(t, n, n))
			return decodeAll(rest, v, elem)
		},
	}, err
}

func compilePointer(t reflect.Type, path string, depth int) (step, error) {
	elem, err := compile(t.Elem(), path, depth+1)
	return step{
		append: func(dst []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(dst, 0)
			}
			return elem.append(append(dst, 1), v.Elem())
		},
		decode: func(src []byte, v reflect.Value) ([]byte, error) {
			if len(src) == 0 || src[0] > 1 {
				return nil, fmt.Errorf("%w: a pointer is marked neither 0 nor 1", ErrDecode)
			}
			if src[0] == 0 {
				v.SetZero()
				return src[1:], nil
			}
			v.Set(reflect.New(t.Elem()))
			return elem.decode(src[1:], v.Elem())
		},
	}, err
}

func compileMap(t reflect.Type, path string, depth int) (step, error) {
	key, err := compile(t.Key(), path+"[key]", depth+1)
	if err != nil {
		return step{}, err
	}
	elem, err := compile(t.Elem(), path+"[]", depth+1)
	if err == nil {
		err = refuseEmpty(t.Key(), path)
	}
	return step{
		append: func(dst []byte, v reflect.Value) []byte { return appendMap(dst, v, key, elem) },
		decode: func(src []byte, v reflect.Value) ([]byte, error) { return decodeMap(src, v, key, elem) },
	}, err
}

// appendMap sorts the entries, so that equal maps have equal encodings.
func appendMap(dst []byte, v reflect.Value, key, elem step) []byte {
	entries := make([][]byte, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		entries = append(entries, elem.append(key.append(nil, it.Key()), it.Value()))
	}
	slices.SortFunc(entries, bytes.Compare)
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	for _, e := range entries {
		dst = append(dst, e...)
	}
	return dst
}

func decodeMap(src []byte, v reflect.Value, key, elem step) ([]byte, error) {
	n, src, err := count(src)
	if err != nil {
		return nil, err
	}
	t := v.Type()
	v.Set(reflect.MakeMapWithSize(t, n))
	for range n {
		k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if src, err = key.decode(src, k); err != nil {
			return nil, err
		}
		if src, err = elem.decode(src, e); err != nil {
			return nil, err
		}
		v.SetMapIndex(k, e)
	}
	return src, nil
}
