package statecow

import "unsafe"

// sameBytes reports whether a and b are the very same memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}
