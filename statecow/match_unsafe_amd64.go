package statecow

import "unsafe"

// match8 returns a bit for each of the eight slots from slots on whose hash is
// hash. In assembly it is a third of the instructions: fewer per operation means
// that the processor has more operations, and so more cache misses, in flight.
//
//go:noescape
func match8(slots unsafe.Pointer, hash uint32) uint32

// probeRun is probe for some hashes, without the slots: as many as found has places.
func (x *index) probeRun(hashes []uint32, found []address) {
	probeRun(x, unsafe.SliceData(hashes[:len(found)]), unsafe.SliceData(found), len(found))
}

//go:noescape
func probeRun(x *index, hashes *uint32, found *address, n int)
