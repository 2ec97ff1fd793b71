package statecow

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Groups is a range of key groups, First to End exclusive. A key's group is
//
//	hash * max >> 32
//
// with its 32-bit hash and the job's maximum of groups: groups are consecutive
// ranges of hashes, so a subtask that owns consecutive groups owns a range of
// hashes.
type Groups struct {
	First, End int
}

// Contains reports whether group g is in the range.
func (g Groups) Contains(group int) bool { return g.First <= group && group < g.End }

// hashes is the range of hashes of the groups, lo to hi exclusive.
func (g Groups) hashes(max int) (lo, hi uint64) {
	if max&(max-1) == 0 { // as it mostly is: states ask for each record, and would divide twice
		shift := (32 - bits.TrailingZeros(uint(max))) & 63
		return uint64(g.First) << shift, uint64(g.End) << shift
	}
	up := func(group int) uint64 { return (uint64(group)<<32 + uint64(max) - 1) / uint64(max) }
	return up(g.First), up(g.End)
}

// KeyGroup is the group of a hash among max groups.
func KeyGroup(hash uint32, max int) int { return int(uint64(hash) * uint64(max) >> 32) }

// Hash is the hash of a key's bytes where the caller does not pass its own. It is
// stable across processes and versions: key groups in snapshots depend on it.
func Hash(key []byte) uint32 { return fold(xxh3.Hash(key)) }

// HashString is Hash of the bytes of a string.
func HashString(key string) uint32 { return fold(xxh3.HashString(key)) }

// HashUint64 is the hash of an integer key: a multiplication whose 128-bit
// product is folded, as in wyhash, twice, so that the high bits depend on every
// bit of k.
func HashUint64(k uint64) uint32 {
	const a, b = 0x9E3779B97F4A7C15, 0xE7037ED1A0B428DB
	hi, lo := bits.Mul64(k^a, b)
	hi, lo = bits.Mul64(hi^lo^b, a)
	return fold(hi ^ lo)
}

func fold(h uint64) uint32 { return uint32(h ^ h>>32) }

// shareOf is the part of other that g has, from 0 to 1.
func (g Groups) shareOf(other Groups) float64 {
	both := min(g.End, other.End) - max(g.First, other.First)
	if both <= 0 || other.End <= other.First {
		return 0
	}
	return float64(both) / float64(other.End-other.First)
}
