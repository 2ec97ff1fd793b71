package nexmark

// draws are the random numbers of one event: a function of the seed and of the event's
// id alone (SplitMix64 from a point of its own), so that it does not matter who
// generates which events, and in what order.
type draws struct{ x uint64 }

func newDraws(seed, id uint64) draws { return draws{x: seed + id*0xD1342543DE82EF95} }

func (d *draws) next() uint64 {
	d.x += 0x9E3779B97F4A7C15
	return mix(d.x)
}

// mix is a permutation of the 64-bit numbers that leaves no pattern (D. Stafford's
// thirteenth variant of the MurmurHash3 finalizer).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below maps the lower 32 bits of r to the numbers below n, evenly. n is at most 2^32.
func below(r, n uint64) uint64 { return uint64(uint32(r)) * n >> 32 }
