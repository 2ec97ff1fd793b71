package statecow

import (
	"math/bits"
	"unsafe"
)

// index maps hashes to addresses: one array of slots (scrambled hash in the high 32 bits,
// address in the low; 0 is empty), sorted, with linear probing from a home that is
// proportional to the scrambled hash,
//
//	home = scrambled * slots / 2^32
//
// which ends a failed search early, and lets the table be of any size. Hashes themselves
// would not do: those of a key group lie together, and a single key may have most of the
// entries.
//
// It grows by a fifth at a time, in place: the frontier is the hash from which
// on entries have moved to their new home. As homes only move to the right, the
// highest hashes move first into free space, a few with each insertion, and the
// table is sorted and searchable at every moment. Shrinking is the mirror image.
// No operation ever rehashes more than a handful of entries, there are no two
// tables at a time, and at no time is less than 0.7 of a grown table in use.
type index struct {
	// constant
	region *region
	lo     uint64 // lowest hash owned, not scrambled
	width  uint64 // hashes owned

	// owner
	slots    unsafe.Pointer
	below    uint64 // slots that homes are spread over, of scrambled hashes below the frontier
	above    uint64 // and from it on
	frontier uint64
	n        int // slots that homes are spread over
	target   int // n after the move under way; n if none is
	limit    int // slots committed; the last is always empty
	last     int // no entry is beyond
	cursor   int // of the move under way: where it goes on
	count    int
	scratch  []uint64
}

// scrambled is a hash times an odd number, modulo 2^32: a permutation that takes hashes which
// lie together far apart (Fibonacci hashing).
type scrambled uint32

func scramble(hash uint32) scrambled { return scrambled(hash * scrambler) }

const scrambler = 0x9E3779B1 // odd; probeRun's assembly has it from here

// slot is what the index has of an entry.
func (h scrambled) slot(a address) uint64 { return uint64(h)<<32 | uint64(a) }

const (
	slotSize     = 8
	minSlots     = 1024
	slack        = 256 // slots beyond n, for the overflow of the last
	noFrontier   = 1 << 32
	smallIndex   = 1 << 16 // slots: below, growing doubles
	moveAtOnce   = 32      // entries moved by one step
	stepEvery    = 2       // insertions a step
	maxLoad      = 0.82    // when growing begins
	minLoad      = 0.35    // when shrinking begins
	criticalLoad = 0.96    // beyond which nothing is inserted
)

func (x *index) open(r *region, lo, hi uint64) error {
	x.region, x.slots = r, r.base
	x.lo, x.width = lo, hi-lo
	x.n, x.target = minSlots, minSlots
	x.below, x.frontier = minSlots, noFrontier
	x.above = x.below
	return x.extend(minSlots + slack)
}

// owns reports whether the index has a place for the hash.
func (x *index) owns(hash uint32) bool { return uint64(hash)-x.lo < x.width }

func (x *index) home(h scrambled) int {
	slots := x.below
	if uint64(h) >= x.frontier {
		slots = x.above
	}
	return int(uint64(h) * slots >> 32)
}

func (x *index) at(pos int) *uint64 {
	return (*uint64)(unsafe.Add(x.slots, pos*slotSize))
}

// bytes is the memory in use.
func (x *index) bytes() int64 { return int64(x.limit) * slotSize }

// extend commits at least n slots.
func (x *index) extend(n int) error {
	if n <= x.limit {
		return nil
	}
	n = roundUp(n, 4096/slotSize)
	if n*slotSize > x.region.size {
		return &BudgetError{Need: int64(n) * slotSize, Used: x.bytes(), Budget: int64(x.region.size)}
	}
	if err := x.region.commit(n * slotSize); err != nil {
		return err
	}
	x.limit = n
	return nil
}

// seek is the first slot from the home of h on that is empty or whose hash is
// not below: where h is, or belongs.
func (x *index) seek(h scrambled) int {
	pos := x.home(h)
	for {
		s := *x.at(pos)
		if s == 0 || scrambled(s>>32) >= h {
			return pos
		}
		pos++
	}
}

// probe looks at the eight slots from the home of hash at once, without a branch
// on any, and returns the first with that hash and its address, or 0. Nearly all
// keys are found there, so the branches that follow are predicted, and the
// processor runs ahead into the next operation while memory answers this one: a
// loop that ends where the slot is found would stop it every time.
func (x *index) probe(hash uint32) (pos int, a address) {
	if !x.owns(hash) {
		return 0, 0
	}
	h := scramble(hash)
	pos = x.home(h)
	m := match8(unsafe.Pointer(x.at(pos)), uint32(h))
	if m == 0 {
		return 0, 0
	}
	pos += bits.TrailingZeros32(m)
	return pos, address(*x.at(pos))
}

// probes is how many hashes are probed for at a time.
const probes = 16

// touch reads the home slots of hashes, so that they are in the cache: a loop as
// short as this has dozens of cache misses in flight.
func (x *index) touch(hashes []uint32) (touched uint64) {
	for _, hash := range hashes {
		if x.owns(hash) {
			touched |= *x.at(x.home(scramble(hash)))
		}
	}
	return touched
}

// findAddress is the slot that holds this hash and address, or -1.
func (x *index) findAddress(hash uint32, a address) int {
	h := scramble(hash)
	want := h.slot(a)
	for pos := x.seek(h); ; pos++ {
		s := *x.at(pos)
		if s == want {
			return pos
		}
		if s == 0 || scrambled(s>>32) != h {
			return -1
		}
	}
}

// room prepares the insertion of one entry; it is all that may fail.
func (x *index) room(pos int) error {
	if float64(x.count+1) > criticalLoad*float64(x.n) && x.target <= x.n {
		return &BudgetError{Need: int64(x.n) * slotSize / 5, Used: x.bytes(), Budget: int64(x.region.size)}
	}
	end := pos
	for *x.at(end) != 0 {
		end++
	}
	if end+2 > x.limit {
		return x.extend(end + slack)
	}
	return nil
}

// insert puts an entry at pos, where seek said it belongs, and shifts what
// follows. Call room before.
func (x *index) insert(pos int, h scrambled, a address) {
	end := x.shift(pos, h.slot(a))
	x.count++
	switch {
	case x.target > x.n && uint64(h) < x.frontier:
		x.cursor = max(x.cursor, end+1)
	case x.target < x.n && uint64(h) >= x.frontier:
		x.cursor = min(x.cursor, pos)
	}
}

// shift stores s at pos and moves the run of entries there by one; it returns the
// slot that was empty.
func (x *index) shift(pos int, s uint64) int {
	for {
		p := x.at(pos)
		old := *p
		*p = s
		if old == 0 {
			x.last = max(x.last, pos)
			return pos
		}
		s = old
		pos++
	}
}

// remove empties a slot and closes the gap: entries that follow move left, as far
// as none passes its home.
func (x *index) remove(pos int) {
	end := pos
	for {
		s := *x.at(end + 1)
		if s == 0 || x.home(scrambled(s>>32)) > end {
			break
		}
		*x.at(end) = s
		end++
	}
	*x.at(end) = 0
	x.count--
	if x.target < x.n && pos < x.cursor && x.cursor <= end {
		x.cursor-- // with the entry there, which may have to move
	}
}
