package statecow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// referenceKeys is how many different keys the random model test uses.
const referenceKeys = 100_000

// reference is what a map has to hold: by the number of a key, the seed of its value; 0
// if there is none. A value follows from its seed, so a copy is one copy of memory, and
// comparing needs no second map.
type reference struct {
	seeds []uint64
	count int
}

func newReference() *reference { return &reference{seeds: make([]uint64, referenceKeys)} }

func (r *reference) clone() *reference { return &reference{slices.Clone(r.seeds), r.count} }

func (r *reference) set(k int, seed uint64) {
	if r.seeds[k] == 0 {
		r.count++
	}
	r.seeds[k] = seed
}

func (r *reference) delete(k int) {
	if r.seeds[k] != 0 {
		r.count--
	}
	r.seeds[k] = 0
}

// newSeed draws the seed of a value of n bytes.
func newSeed(rng *rand.Rand, n int) uint64 { return 1<<63 | rng.Uint64()<<20 | uint64(n) }

// sizeOf is the size of the value of a seed.
func sizeOf(seed uint64) int { return int(seed & (1<<20 - 1)) }

// fillValue writes the value of a seed, of all whose bytes all bits depend on the seed.
func fillValue(v []byte, seed uint64) {
	x, tail := seed, [8]byte{}
	for ; len(v) >= 8; v = v[8:] {
		x = mixValue(x)
		binary.LittleEndian.PutUint64(v, x)
	}
	binary.LittleEndian.PutUint64(tail[:], mixValue(x))
	copy(v, tail[:])
}

// isValue reports whether v is the value of a seed.
func isValue(v []byte, seed uint64) bool {
	if len(v) != sizeOf(seed) {
		return false
	}
	x, tail := seed, [8]byte{}
	for ; len(v) >= 8; v = v[8:] {
		if x = mixValue(x); binary.LittleEndian.Uint64(v) != x {
			return false
		}
	}
	binary.LittleEndian.PutUint64(tail[:], mixValue(x))
	return bytes.Equal(v, tail[:len(v)])
}

func mixValue(x uint64) uint64 {
	x *= 0x9E3779B97F4A7C15
	return x ^ x>>29
}

// keyTable has the keys and their hashes by number.
type keyTable struct {
	fixed  bool
	keys   [referenceKeys][]byte
	hashes [referenceKeys]uint32
}

func newKeyTable(l *layout) *keyTable {
	t := &keyTable{fixed: l.fixed}
	for k := range t.keys {
		if l.fixed {
			t.keys[k] = binary.LittleEndian.AppendUint64(nil, uint64(k))
		} else {
			t.keys[k] = fmt.Appendf(nil, "%0*d", 1+k%29, k)
		}
		t.hashes[k] = l.hash(t.keys[k])
	}
	return t
}

// number is that of a key, -1 for bytes that are none. It reads no memory but the key.
func (t *keyTable) number(key []byte) int {
	if t.fixed {
		if len(key) != 8 || binary.LittleEndian.Uint64(key) >= referenceKeys {
			return -1
		}
		return int(binary.LittleEndian.Uint64(key))
	}
	k, digits := 0, 0
	for _, c := range key {
		if c < '0' || c > '9' || k >= referenceKeys {
			return -1
		}
		if k = 10*k + int(c-'0'); k > 0 {
			digits++
		}
	}
	if k >= referenceKeys || len(key) != max(1+k%29, digits) {
		return -1
	}
	return k
}

// comparison compares entries that come one by one with a reference.
type comparison struct {
	t    testing.TB
	keys *keyTable
	want *reference
	seen []uint64 // a bit for each key
	n    int
}

func (w *world) compare(want *reference) *comparison {
	clear(w.seen)
	return &comparison{w.t, w.table, want, w.seen, 0}
}

// entry has to be in the reference, and to come once.
func (c *comparison) entry(hash uint32, key, value []byte) {
	k := c.keys.number(key)
	if k < 0 || hash != c.keys.hashes[k] {
		c.t.Fatalf("there is an entry %q of hash %x, which nobody put", key, hash)
	}
	if seed := c.want.seeds[k]; seed == 0 || !isValue(value, seed) {
		c.t.Fatalf("there is an entry %q = %.20q of %d bytes, want size %d (0: none)", key, value, len(value), sizeOf(seed))
	}
	if c.seen[k/64]&(1<<(k%64)) != 0 {
		c.t.Fatalf("there are two entries %q", key)
	}
	c.seen[k/64] |= 1 << (k % 64)
	c.n++
}

// end has to come when all entries of the reference have.
func (c *comparison) end() {
	c.t.Helper()
	if c.n != c.want.count {
		c.t.Fatalf("there are %d entries, want %d", c.n, c.want.count)
	}
}
