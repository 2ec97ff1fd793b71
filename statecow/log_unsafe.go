package statecow

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// log is the entries of a map, in segments in the order of their creation.
type log struct {
	// constant
	layout   layout
	region   *region
	base     unsafe.Pointer
	segSize  int    // bytes
	segUnits uint32 // units
	shift    uint   // of an address to its slot

	// atomic: read by snapshots
	slots []atomic.Pointer[segment] // by slot; slot 0 is never used

	writers sync.Pool // of *blockWriter, for the memory that they have

	// owner
	order      []Mark      // by slot: the position of an address there, less the address
	frozen     Mark        // entries from here on may be changed in place
	hot        head        // where new entries go
	cold       head        // where compaction moves what every base has
	seq        uint64      // of the newest segment
	unused     uint32      // slots from here on were never used
	spare      []uint32    // free slots with memory
	idle       []uint32    // free slots without
	used       int         // slots of segments, retired ones included
	retire     []*segment  // emptied, held by snapshots
	unchecked  int         // the first of retire that releases since may have freed
	emptied    []*segment  // nothing lives in them any more; to be looked at by the next work
	sparse     []sparse    // next to nothing does; in the order in which it came to that
	epoch      uint64      // snapshots taken
	open       []*snapshot // not released, as far as known, oldest first
	newest     uint64      // id of the newest of open; 0 if none
	live       int64       // units of live entries
	filled     int64       // units filled of segments in use that are not retired
	bitmaps    bitmaps
	ended      [maxEnded]ended // entries to be marked dead
	endAt      int             // how many are gathered
	ends       int
	next       address // where renew appends; count adds it up
	renewUntil int     // renew may go on until so many are ended; 0 if next is not in use
	owed       uint32  // units appended or ended since the last work
	tombs      int64   // units of tombstones ever appended
}

// head is an open segment and its next free unit.
type head struct {
	seg  *segment
	off  uint32
	cold bool
}

func (l *log) init(layout layout, o Options) error {
	slots := min(2*int(o.Budget/int64(o.SegmentSize)), MaxBudget/o.SegmentSize) + 1
	r, err := newRegion(slots*o.SegmentSize, o.heap)
	if err != nil {
		return err
	}
	l.layout, l.region, l.base = layout, r, r.base
	l.segSize, l.segUnits = o.SegmentSize, uint32(o.SegmentSize/unit)
	for 1<<l.shift < int(l.segUnits) {
		l.shift++
	}
	l.slots = make([]atomic.Pointer[segment], slots)
	l.order = make([]Mark, slots)
	l.unused, l.endAt = 1, fewEnded
	l.bitmaps.words = int(l.segUnits/64 + 1)
	l.cold.cold = true
	return nil
}

// pointer is the place of an entry.
func (l *log) pointer(a address) unsafe.Pointer { return unsafe.Add(l.base, uintptr(a)*unit) }

// segmentOf is the segment of an address and the offset there.
func (l *log) segmentOf(a address) (*segment, uint32) {
	return l.slots[a>>l.shift].Load(), a & (1<<l.shift - 1)
}

// mutable reports whether the entry may be changed in place: no snapshot has it
// and no increment would miss the change.
func (l *log) mutable(a address) bool {
	return l.frozen == 0 || l.order[a>>(l.shift&31)]+Mark(a) >= l.frozen
}

// tail is the position of the next entry.
func (l *log) tail() Mark {
	if l.hot.seg == nil {
		return Mark((l.seq + 1) << offBits)
	}
	return l.hot.seg.position(l.hot.off)
}

// append makes room for an entry of n units and says where; Map.room has made
// sure that there is memory.
func (l *log) append(h *head, n uint32) address {
	if n > l.segUnits {
		return l.appendLarge(n)
	}
	l.count()
	if h.seg == nil || h.off+n > l.segUnits {
		l.closeHead(h)
		h.seg, h.off = l.newSegment(l.takeSlot(), 1, h.cold), 0
	}
	a := h.seg.slot<<l.shift | h.off
	l.extend(h, n)
	return a
}

// extend adds n units to what was appended to the open segment, where there is room.
func (l *log) extend(h *head, n uint32) {
	h.off += n
	h.seg.end = h.off
	h.seg.live += n
	l.owed += n
	l.live += int64(n)
	l.filled += int64(n)
}

// appendLarge gives a large entry a segment of its own, before the open one in
// nothing but its place.
func (l *log) appendLarge(n uint32) address {
	l.closeHead(&l.hot)
	count := (n + l.segUnits - 1) / l.segUnits
	seg := l.newSegment(l.takeSlots(count), count, false)
	seg.end, seg.live = n, n
	l.owed += n
	l.live += int64(n)
	l.filled += int64(n)
	return seg.slot << l.shift
}

// closeHead ends the open segment of h, whose remainder stays unused.
func (l *log) closeHead(h *head) {
	l.count()
	if h.seg != nil {
		l.filled += int64(l.segUnits - h.seg.end)
		h.seg, h.off = nil, 0
	}
}

func (l *log) newSegment(slot, count uint32, cold bool) *segment {
	l.seq++
	s := &segment{slot: slot, count: count, seq: l.seq, birth: l.epoch, cold: cold}
	units := l.segUnits
	if count > 1 {
		units = 2
	}
	s.moved.Store(1<<64 - 1)
	s.setMarks(l.bitmaps.newMarks(units, l.epoch))
	for i := range s.deadlines {
		s.deadlines[i] = NoDeadline
	}
	l.order[slot] = s.position(0) - Mark(slot)<<l.shift
	l.slots[slot].Store(s)
	l.used += int(count)
	l.bitmaps.keep = l.used
	return s
}

// needs is how many slots an entry of n units takes that are not yet in use.
func (l *log) needs(h *head, n uint32) int {
	l.count()
	switch {
	case n > l.segUnits:
		return int((n + l.segUnits - 1) / l.segUnits)
	case h.seg == nil || h.off+n > l.segUnits:
		return 1
	}
	return 0
}

// takeSlot takes a free slot, one with memory first.
func (l *log) takeSlot() uint32 {
	if n := len(l.spare) - 1; n >= 0 {
		slot := l.spare[n]
		l.spare = l.spare[:n]
		if invariant.Enabled {
			invariant.Check(invariant.Poisoned(l.memory(slot, 1)), "statecow: segment %d was written to after it was freed", slot)
		}
		return slot
	}
	if n := len(l.idle) - 1; n >= 0 {
		slot := l.idle[n]
		l.idle = l.idle[:n]
		return slot
	}
	l.unused++
	return l.unused - 1
}

// takeSlots takes neighbouring slots. There are twice as many as the budget has
// memory for, so the run is found behind the used ones or between them.
func (l *log) takeSlots(n uint32) uint32 {
	if int(l.unused+n) <= len(l.slots) {
		l.unused += n
		return l.unused - n
	}
	first := l.run(n)
	taken := func(slot uint32) bool { return first <= slot && slot < first+n }
	l.spare = deleteSlots(l.spare, taken)
	l.idle = deleteSlots(l.idle, taken)
	return first
}

func deleteSlots(slots []uint32, del func(uint32) bool) []uint32 {
	kept := slots[:0]
	for _, s := range slots {
		if !del(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// run is the first of n neighbouring free slots, or 0.
func (l *log) run(n uint32) uint32 {
	free := uint32(0)
	for slot := uint32(1); slot < uint32(len(l.slots)); slot++ {
		if s := l.slots[slot].Load(); s != nil {
			free = 0
			slot += s.count - 1
			continue
		}
		if free++; free == n {
			return slot - n + 1
		}
	}
	return 0
}

// hasRun reports whether takeSlots would succeed.
func (l *log) hasRun(n uint32) bool {
	return n <= 1 || int(l.unused+n) <= len(l.slots) || l.run(n) != 0
}

// commit makes sure that n slots more can be touched.
func (l *log) commit(n int) error {
	if len(l.spare)+len(l.idle) >= n && n <= 1 {
		return nil
	}
	return l.region.commit(min(len(l.slots), int(l.unused)+n) * l.segSize)
}

// memory shares the memory of slots.
func (l *log) memory(slot, count uint32) []byte {
	return l.region.bytes(int(slot)*l.segSize, int(count)*l.segSize)
}

// free gives a segment's slots back. A share of the free slots keeps its memory
// for the next segments.
func (l *log) free(s *segment) {
	l.used -= int(s.count)
	l.slots[s.slot].Store(nil)
	l.bitmaps.giveAll(s.marks.Load())
	l.region.poison(int(s.slot)*l.segSize, int(s.count)*l.segSize)
	for slot := s.slot; slot < s.slot+s.count; slot++ {
		l.spare = append(l.spare, slot)
	}
	l.trim(max(4, l.used/8))
}

// trim leaves at most n free slots with memory.
func (l *log) trim(n int) {
	for len(l.spare) > n {
		slot := l.spare[len(l.spare)-1]
		l.spare = l.spare[:len(l.spare)-1]
		l.region.decommit(int(slot)*l.segSize, l.segSize)
		l.idle = append(l.idle, slot)
	}
}

// bytes is the memory of segments, of their marks, and of free slots kept.
func (l *log) bytes() int64 {
	return int64(l.used+len(l.spare)) * int64(l.segSize+l.segSize/64)
}

// mark sets the state of an entry. If a snapshot sees the present marks, it keeps
// them and a copy is changed.
func (l *log) mark(s *segment, off uint32, state entryState) {
	if s.epoch < l.newest {
		s.setMarks(l.bitmaps.copied(s.marks.Load(), l.epoch, l.open))
	}
	setState(s.bits, off, state)
}

// kill marks an entry of n units dead.
func (l *log) kill(a address, n uint32) {
	s, off := l.segmentOf(a)
	l.mark(s, off, dead)
	l.lessIn(s, n)
	l.live -= int64(n)
	l.owed += n
}

// lessIn notes that n units of a segment live no more.
func (l *log) lessIn(s *segment, n uint32) {
	few := l.segUnits / fewLive
	if s.live -= n; s.live >= few {
		return
	}
	if s.live == 0 {
		l.emptied = append(l.emptied, s)
	} else if s.live+n >= few {
		l.sparse = append(l.sparse, sparse{s, l.epoch})
	}
}

// fewLive is what part of a segment lives where that is next to nothing.
const fewLive = 16

// sparse is a segment in which next to nothing lives.
type sparse struct {
	seg   *segment
	epoch uint64 // snapshots taken before
}

// maxEnded is how many ended entries are gathered at most.
const maxEnded = 64

// ended is an entry to be marked dead.
type ended struct {
	a     address
	units uint32
}
