package operators_test

import (
	"bytes"
	"testing"
	"unsafe"
)

// What lies in the gaps of a struct must not get out, nor make equal values unequal.
func TestPaddingIsNotEncoded(t *testing.T) {
	var dirty [2]gappy
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&dirty)), unsafe.Sizeof(dirty))
	for i := range memory {
		memory[i] = 0xEE
	}
	dirty[0] = gappy{Valid: true, Key: 1, Count: 2, Price: 3}
	dirty[1].Valid, dirty[1].Key, dirty[1].Count, dirty[1].Price = true, 1, 2, 3
	codec := mustCodec[gappy](t)
	a, b := codec.Append(nil, dirty[0]), codec.Append(nil, dirty[1])
	if !bytes.Equal(a, b) || len(a) != 1+8+4+8 {
		t.Fatalf("%x and %x", a, b)
	}
}
