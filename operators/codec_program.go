package operators

import "reflect"

// A program encodes values of one type. It is compiled once from the type's fields
// and run by a loop over its steps, not by closures or reflection: so the value can
// stay on the caller's stack, and a field costs a few nanoseconds.
//
// An encoding is the fields in order, without padding:
//
//	numbers, bools      as they lie in memory, little-endian
//	string              uvarint length, bytes
//	slice               uvarint 0 if nil, else length+1; elements
//	array               elements
//	pointer             0 if nil, else 1 and what it points to
//	map                 as a slice of keys and values, in order of the encoded keys
//	time.Time           seconds since 1970 (8 bytes), nanoseconds (4): the instant alone
//	protobuf message    uvarint 0 if nil, else length+1; bytes
type program struct {
	steps []step
	min   int // the fewest bytes of an encoding
}

type stepKind uint8

const (
	stepCopy    stepKind = iota // size bytes without pointers and padding
	stepBool                    // checked when decoded
	stepString                  //
	stepBytes                   //
	stepTime                    //
	stepVector                  // slice whose elements are one stepCopy
	stepSlice                   // any other
	stepArray                   // of elements that are more than a stepCopy
	stepPointer                 //
	stepMessage                 // pointer to a protobuf message
	stepMap                     //
)

// step is one field, or several neighbours that are one copy.
type step struct {
	kind   stepKind
	offset uintptr      // in the value
	size   uintptr      // stepCopy: bytes; slices and arrays: of an element
	count  int          // stepArray: elements
	typ    reflect.Type // slices and maps: their own; pointers: what they point to
	key    *program     // stepMap
	elem   *program
}

// add appends a step that takes at least min encoded bytes. Copies of neighbouring
// memory become one.
func (p *program) add(s step, min int) {
	p.min += min
	if n := len(p.steps); n > 0 && s.kind == stepCopy {
		if last := &p.steps[n-1]; last.kind == stepCopy && last.offset+last.size == s.offset {
			last.size += s.size
			return
		}
	}
	p.steps = append(p.steps, s)
}

// copies reports whether the encoding of t is its memory.
func (p *program) copies(t reflect.Type) bool {
	switch len(p.steps) {
	case 0:
		return t.Size() == 0
	case 1:
		return p.steps[0].kind == stepCopy && p.steps[0].size == t.Size()
	}
	return false
}
