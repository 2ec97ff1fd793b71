//go:build !amd64

package statecow

import "unsafe"

// match8 returns a bit for each of the eight slots from slots on whose hash is
// hash, without a branch on any.
func match8(slots unsafe.Pointer, hash uint32) uint32 {
	w, m, h := (*[8]uint64)(slots), uint64(0), uint64(hash)
	for i, s := range w {
		m |= ((s>>32 ^ h) - 1) >> 63 << i
	}
	return uint32(m)
}

// probeRun is probe for some hashes, without the slots: as many as found has places.
func (x *index) probeRun(hashes []uint32, found []address) {
	for i, hash := range hashes[:len(found)] {
		_, found[i] = x.probe(hash)
	}
}
