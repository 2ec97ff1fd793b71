package operators

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"google.golang.org/protobuf/proto"
)

// timeSize is the encoded size of a time.Time.
const timeSize = 12

// slice is the memory of any slice.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// append appends the encoding of the value at v. Nothing here lets v itself escape
// to the heap, only what it points to.
func (p *program) append(dst []byte, v unsafe.Pointer) []byte {
	for i := range p.steps {
		s := &p.steps[i]
		at := unsafe.Add(v, s.offset)
		switch s.kind {
		case stepCopy:
			dst = append(dst, unsafe.Slice((*byte)(at), s.size)...)
		case stepBool:
			dst = append(dst, *(*byte)(at))
		case stepString:
			str := *(*string)(at)
			dst = append(binary.AppendUvarint(dst, uint64(len(str))), str...)
		case stepBytes:
			b := *(*[]byte)(at)
			dst = append(appendLength(dst, len(b), b == nil), b...)
		case stepTime:
			dst = appendTime(dst, *(*time.Time)(at))
		case stepVector:
			v := *(*slice)(at)
			dst = append(appendLength(dst, v.len, v.data == nil), unsafe.Slice((*byte)(v.data), uintptr(v.len)*s.size)...)
		case stepSlice:
			v := *(*slice)(at)
			dst = s.appendElems(appendLength(dst, v.len, v.data == nil), v.data, v.len)
		case stepArray:
			dst = s.appendElems(dst, at, s.count)
		case stepPointer:
			if to := *(*unsafe.Pointer)(at); to != nil {
				dst = s.elem.append(append(dst, 1), to)
			} else {
				dst = append(dst, 0)
			}
		case stepMessage:
			dst = s.appendMessage(dst, *(*unsafe.Pointer)(at))
		case stepMap:
			dst = s.appendMap(dst, *(*unsafe.Pointer)(at))
		}
	}
	return dst
}

// appendLength appends the length of something that may be nil.
func appendLength(dst []byte, n int, isNil bool) []byte {
	if isNil {
		return append(dst, 0)
	}
	return binary.AppendUvarint(dst, uint64(n)+1)
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.Unix()))
	return binary.LittleEndian.AppendUint32(dst, uint32(t.Nanosecond()))
}

func (s *step) appendElems(dst []byte, data unsafe.Pointer, n int) []byte {
	for i := range n { // no pointer may ever point behind the elements
		dst = s.elem.append(dst, unsafe.Add(data, uintptr(i)*s.size))
	}
	return dst
}

func (s *step) appendMessage(dst []byte, m unsafe.Pointer) []byte {
	if m == nil {
		return append(dst, 0)
	}
	message := reflect.NewAt(s.typ, m).Interface().(proto.Message)
	dst = appendLength(dst, proto.Size(message), false)
	return marshal(dst, message)
}

// appendMap sorts the entries, so that equal maps have equal encodings.
func (s *step) appendMap(dst []byte, word unsafe.Pointer) []byte {
	if word == nil {
		return append(dst, 0)
	}
	m := reflect.NewAt(s.typ, unsafe.Pointer(&word)).Elem()
	key, elem := reflect.New(s.typ.Key()), reflect.New(s.typ.Elem())
	entries := make([][]byte, 0, m.Len())
	for it := m.MapRange(); it.Next(); {
		key.Elem().SetIterKey(it)
		elem.Elem().SetIterValue(it)
		entry := s.key.append(nil, key.UnsafePointer())
		entries = append(entries, s.elem.append(entry, elem.UnsafePointer()))
	}
	slices.SortFunc(entries, bytes.Compare)
	dst = appendLength(dst, len(entries), false)
	for _, entry := range entries {
		dst = append(dst, entry...)
	}
	return dst
}
