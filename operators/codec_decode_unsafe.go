package operators

import (
	"encoding/binary"
	"reflect"
	"time"
	"unsafe"

	"google.golang.org/protobuf/proto"
)

// What damaged bytes look like; none: "".
const (
	badEnd     = "they end too early"
	badBool    = "a bool is neither 0 nor 1"
	badPointer = "a pointer is marked neither 0 nor 1"
	badTime    = "a time has a second or more of nanoseconds"
	badMessage = "they are no such protobuf message"
	badRest    = "there are too many"
)

// decode decodes src into the value at v, every byte of which it sets. It returns
// what follows; or if the bytes are damaged, those from the damage on, and what is
// wrong. Memory is allocated only for what the bytes present can fill. Strings and
// byte slices are views into src.
func (p *program) decode(src []byte, v unsafe.Pointer) (rest []byte, bad string) {
	for i := range p.steps {
		s := &p.steps[i]
		at := unsafe.Add(v, s.offset)
		switch s.kind {
		case stepCopy:
			if uintptr(len(src)) < s.size {
				return src, badEnd
			}
			copy(unsafe.Slice((*byte)(at), s.size), src)
			src = src[s.size:]
		case stepBool:
			if len(src) == 0 || src[0] > 1 {
				return src, badBool
			}
			*(*bool)(at) = src[0] == 1
			src = src[1:]
		case stepString:
			n, used := binary.Uvarint(src)
			if used <= 0 || n > uint64(len(src)-used) {
				return src, badEnd
			}
			*(*string)(at) = view(src[used : used+int(n)])
			src = src[used+int(n):]
		case stepTime:
			if src, bad = decodeTime(src, (*time.Time)(at)); bad != "" {
				return src, bad
			}
		case stepArray:
			if src, bad = s.decodeElems(src, at, s.count); bad != "" {
				return src, bad
			}
		case stepPointer:
			if src, bad = s.decodePointer(src, (*unsafe.Pointer)(at)); bad != "" {
				return src, bad
			}
		default:
			if src, bad = s.decodeCounted(src, at); bad != "" {
				return src, bad
			}
		}
	}
	return src, ""
}

// decodeCounted decodes what begins with a length, 0 for nil.
func (s *step) decodeCounted(src []byte, at unsafe.Pointer) (rest []byte, bad string) {
	n, used := binary.Uvarint(src)
	if used <= 0 {
		return src, badEnd
	}
	body := src[used:]
	if n == 0 {
		if s.kind == stepBytes || s.kind == stepVector || s.kind == stepSlice {
			*(*slice)(at) = slice{}
		} else {
			*(*unsafe.Pointer)(at) = nil
		}
		return body, ""
	}
	n--
	least := 1 // bytes of an element
	if s.elem != nil {
		least = s.elem.min
	}
	if s.key != nil {
		least += s.key.min
	}
	if n > uint64(len(body)/least) {
		return src, badEnd
	}
	switch s.kind {
	case stepBytes:
		*(*[]byte)(at) = body[:n:n]
		return body[n:], ""
	case stepMessage:
		return s.decodeMessage(body, int(n), (*unsafe.Pointer)(at))
	case stepMap:
		return s.decodeMap(body, int(n), (*unsafe.Pointer)(at))
	default:
		data := reflect.MakeSlice(s.typ, int(n), int(n)).UnsafePointer()
		*(*slice)(at) = slice{data: data, len: int(n), cap: int(n)}
		if s.kind == stepVector {
			size := uintptr(n) * s.size
			copy(unsafe.Slice((*byte)(data), size), body)
			return body[size:], ""
		}
		return s.decodeElems(body, data, int(n))
	}
}

func (s *step) decodeElems(src []byte, data unsafe.Pointer, n int) (rest []byte, bad string) {
	for i := range n {
		if src, bad = s.elem.decode(src, unsafe.Add(data, uintptr(i)*s.size)); bad != "" {
			break
		}
	}
	return src, bad
}

func decodeTime(src []byte, to *time.Time) (rest []byte, bad string) {
	if len(src) < timeSize {
		return src, badEnd
	}
	nanos := binary.LittleEndian.Uint32(src[8:])
	if nanos >= uint32(time.Second) {
		return src, badTime
	}
	*to = time.Unix(int64(binary.LittleEndian.Uint64(src)), int64(nanos)).UTC()
	return src[timeSize:], ""
}

func (s *step) decodePointer(src []byte, to *unsafe.Pointer) (rest []byte, bad string) {
	if len(src) == 0 || src[0] > 1 {
		return src, badPointer
	}
	if src[0] == 0 {
		*to = nil
		return src[1:], ""
	}
	*to = reflect.New(s.typ).UnsafePointer()
	return s.elem.decode(src[1:], *to)
}

func (s *step) decodeMessage(src []byte, n int, to *unsafe.Pointer) (rest []byte, bad string) {
	fresh := reflect.New(s.typ)
	if err := proto.Unmarshal(src[:n], fresh.Interface().(proto.Message)); err != nil {
		return src, badMessage
	}
	*to = fresh.UnsafePointer()
	return src[n:], ""
}

func (s *step) decodeMap(src []byte, n int, to *unsafe.Pointer) (rest []byte, bad string) {
	m := reflect.MakeMapWithSize(s.typ, n)
	key, elem := reflect.New(s.typ.Key()), reflect.New(s.typ.Elem())
	for range n {
		if src, bad = s.key.decode(src, key.UnsafePointer()); bad != "" {
			return src, bad
		}
		if src, bad = s.elem.decode(src, elem.UnsafePointer()); bad != "" {
			return src, bad
		}
		m.SetMapIndex(key.Elem(), elem.Elem())
	}
	*to = m.UnsafePointer()
	return src, ""
}
