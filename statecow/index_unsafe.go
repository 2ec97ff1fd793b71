package statecow

import (
	"math/bits"
	"unsafe"
)

// index maps hashes to addresses: one array of slots (hash in the high 32 bits,
// address in the low; 0 is empty), sorted by hash, with linear probing from a
// hash's home. The home is proportional to the hash,
//
//	home = (hash - lo) * slots / hashes
//
// which needs the hash to be well mixed, and in return keeps a key-group range
// contiguous, ends a failed search early, and lets the table be of any size.
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
	lo     uint64 // lowest hash owned
	width  uint64 // hashes owned

	// owner
	slots    unsafe.Pointer
	below    uint64 // slots a hash, times 2^32, for hashes below the frontier
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
	x.below, x.frontier = x.ratio(minSlots), noFrontier
	x.above = x.below
	return x.extend(minSlots + slack)
}

// ratio is n slots spread over the width, times 2^32. A hash is below the width,
// so the product of both stays below n<<32.
func (x *index) ratio(n int) uint64 { return uint64(n) << 32 / x.width }

// owns reports whether the index has a place for the hash.
func (x *index) owns(hash uint32) bool { return uint64(hash)-x.lo < x.width }

func (x *index) home(hash uint32) int {
	ratio := x.below
	if uint64(hash) >= x.frontier {
		ratio = x.above
	}
	return int((uint64(hash) - x.lo) * ratio >> 32)
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

// seek is the first slot from the home of hash on that is empty or whose hash is
// not below: where hash is, or belongs.
func (x *index) seek(hash uint32) int {
	pos := x.home(hash)
	for {
		s := *x.at(pos)
		if s == 0 || uint32(s>>32) >= hash {
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
	pos = x.home(hash)
	m := match8(unsafe.Pointer(x.at(pos)), hash)
	if m == 0 {
		return 0, 0
	}
	pos += bits.TrailingZeros32(m)
	return pos, address(*x.at(pos))
}

// touch reads the home slots of hashes, so that they are in the cache: a loop as
// short as this has dozens of cache misses in flight.
func (x *index) touch(hashes []uint32) (touched uint64) {
	for _, h := range hashes {
		if x.owns(h) {
			touched |= *x.at(x.home(h))
		}
	}
	return touched
}

// findAddress is the slot that holds this hash and address, or -1.
func (x *index) findAddress(hash uint32, a address) int {
	want := uint64(hash)<<32 | uint64(a)
	for pos := x.seek(hash); ; pos++ {
		s := *x.at(pos)
		if s == want {
			return pos
		}
		if s == 0 || uint32(s>>32) != hash {
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
func (x *index) insert(pos int, hash uint32, a address) {
	end := x.shift(pos, uint64(hash)<<32|uint64(a))
	x.count++
	switch {
	case x.target > x.n && uint64(hash) < x.frontier:
		x.cursor = max(x.cursor, end+1)
	case x.target < x.n && uint64(hash) >= x.frontier:
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
	if x.target < x.n {
		x.cursor = min(x.cursor, pos)
	}
	for {
		s := *x.at(pos + 1)
		if s == 0 || x.home(uint32(s>>32)) > pos {
			break
		}
		*x.at(pos) = s
		pos++
	}
	*x.at(pos) = 0
	x.count--
}
