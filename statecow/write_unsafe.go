package statecow

import (
	"math/bits"
	"unsafe"
)

// pairUnits is the size of the smallest entries, of which a word of marks has 32, two
// bits each. They are so small that to look at one by one would take longer than to
// copy them.
const pairUnits = 2

const (
	wordUnits = 64                 // units that a word of marks tells of
	gone      = 0xAAAAAAAAAAAAAAAA // the higher bits of 32 states: dead, or a tombstone
)

// writePairs is writeRuns for entries of pairUnits in a fixed layout.
func (s *snapshot) writePairs(b *blockWriter, p part) {
	for off := p.from; off < p.to; {
		end := min(p.to, off&^(wordUnits-1)+wordUnits)
		if w := p.marks.bits[off/wordUnits] >> (off % wordUnits); w&gone != 0 || end-off < wordUnits {
			s.writeWord(b, p, off, end, w)
			off = end
			continue
		}
		for end-off < blockTarget/unit && end+wordUnits <= p.to && p.marks.bits[end/wordUnits]&gone == 0 {
			end += wordUnits
		}
		b.put(s.log.bytesAt(p.address(s.log, off), end-off), (end-off)/pairUnits)
		off = end
	}
}

// writeWord writes what is wanted from off to end, of which w has the states.
func (s *snapshot) writeWord(b *blockWriter, p part, off, end uint32, w uint64) {
	if w&gone&^(w<<1) != 0 && p.deletes { // a tombstone
		p.from, p.to = off, end
		s.writeRuns(b, p)
		return
	}
	wanted := ^w & gone << (wordUnits - (end - off)) >> (wordUnits - (end - off))
	if wanted == 0 {
		return
	}
	n := bits.OnesCount64(wanted)
	b.begin(putBlock, wordUnits*unit)
	at := len(b.buf)
	b.buf = b.buf[:at+n*pairUnits*unit]
	gather(unsafe.Pointer(&b.buf[at]), s.log.pointer(p.address(s.log, off)), wanted)
	b.records += uint32(n)
	b.stats.Entries += int64(n)
}

// gather copies the pairs of units whose second unit has a bit in wanted.
func gather(to, from unsafe.Pointer, wanted uint64) {
	for ; wanted != 0; wanted &= wanted - 1 {
		i := bits.TrailingZeros64(wanted) - 1
		*(*[2]uint64)(to) = *(*[2]uint64)(unsafe.Add(from, i*unit))
		to = unsafe.Add(to, pairUnits*unit)
	}
}
