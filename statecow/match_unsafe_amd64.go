package statecow

import "unsafe"

// match8 returns a bit for each of the eight slots from slots on whose hash is
// hash. In assembly it is a third of the instructions: fewer per operation means
// that the processor has more operations, and so more cache misses, in flight.
//
//go:noescape
func match8(slots unsafe.Pointer, hash uint32) uint32
