package statecow

import (
	"bytes"
	"math/bits"
	"unsafe"
)

// bulk fills the empty index of a map with many entries at once. To insert each where it
// belongs would be a cache miss for each; so entries are first gathered by bucket, in the
// part of the index that the bucket has, in the order in which they come. Then every
// bucket, which fits the cache, is sorted and spread over its slots. In between nothing
// may be looked up.
type bulk struct {
	// constant
	m     *Map
	shift uint // of a slot to its bucket
	room  int  // entries that a bucket holds

	filled []uint32  // entries gathered, by bucket
	left   int       // how many more the index is large enough for
	full   bool      // it is not, or some bucket is full
	gone   [][]byte  // keys of deletions: number i has address i+1, where no entry lies
	next   [2]bucket // scratch: of the bucket to be spread and of the one after it
	spare  []uint64  // scratch
}

// bucket is the entries of a bucket.
type bucket struct{ slots []uint64 }

const (
	bucketShift = 14      // 128 KiB of slots
	fewEntries  = 1 << 12 // are not worth it
	digit       = 11      // bits that a pass of sorting looks at, at most
	touchAhead  = 512     // entries that are brought into the cache before they are compared
	bulkLoad    = 0.87    // leaves it time to grow when others follow one by one
)

// startBulk makes room for n entries and returns a bulk, or nil where there is little to
// gain or something is in the way: entries, bases whose increments would miss what comes,
// or deadlines, which have to be noted.
func (m *Map) startBulk(n int) *bulk {
	x := &m.index
	if !x.reserve(n, m.spareBytes()) || n < fewEntries || m.expiry != nil || !m.bases.empty() {
		return nil
	}
	b := &bulk{m: m, shift: bucketShift}
	if x.n < 1<<b.shift {
		b.shift = uint(bits.Len(uint(x.n - 1)))
	}
	b.room, b.left = min(x.n, 1<<b.shift), int(bulkLoad*float64(x.n))
	b.filled = make([]uint32, (x.n-1)>>b.shift+1)
	scratch := make([]uint64, 3*b.room)
	b.next[0].slots, b.next[1].slots, b.spare = scratch[:0:b.room], scratch[b.room:b.room:2*b.room], scratch[2*b.room:]
	return b
}

// add gathers an entry; b must not be full.
func (b *bulk) add(hash uint32, a address) {
	x := &b.m.index
	h := scramble(hash)
	k := x.home(h) >> b.shift
	n := &b.filled[k]
	*x.at(k<<b.shift + int(*n)) = h.slot(a)
	*n++
	b.left--
	if int(*n) == b.room || b.left == 0 {
		b.full = true
	}
}

// remove gathers a deletion, and reports false if it must not go on. It lends key.
func (b *bulk) remove(hash uint32, key []byte) bool {
	if !b.m.index.owns(hash) {
		return true
	}
	if b.full || len(b.gone)+1 >= int(b.m.segUnits) {
		return false
	}
	b.gone = append(b.gone, bytes.Clone(key))
	b.add(hash, address(len(b.gone)))
	return true
}

// deletion reports whether a stands for a deletion. Slot 0 of the log is never used.
func (b *bulk) deletion(a address) bool { return a < b.m.segUnits }

// take copies the owned entries of payload, which has them as they lie in the log, to the
// log and gathers them. It returns how many bytes it has dealt with and how many records
// those are: not all if it must not go on, or if something is wrong there.
func (b *bulk) take(payload []byte) (done int, records uint32) {
	m := b.m
	for done < len(payload) && !b.full {
		hash, size := m.layout.peek(payload[done:])
		if size == 0 {
			break
		}
		if m.index.owns(hash) {
			n, count := b.run(payload[done:], hash, size)
			if n == 0 {
				break
			}
			done, records = done+n, records+count
			continue
		}
		done, records = done+size, records+1
	}
	return done, records
}

// run is take for owned entries that follow one another and fit a segment, of which the
// first is known.
func (b *bulk) run(payload []byte, hash uint32, size int) (done int, records uint32) {
	m := b.m
	if !b.reserve(uint32(size / unit)) {
		return 0, 0
	}
	a := m.log.append(&m.hot, uint32(size/unit))
	b.add(hash, a)
	done, records = size, 1
	if m.hot.seg != nil { // not so behind a large entry
		limit := min(len(payload), size+int(m.segUnits-m.hot.off)*unit)
		for done < limit && !b.full {
			hash, n := m.layout.peek(payload[done:limit])
			if n == 0 || !m.index.owns(hash) {
				break
			}
			b.add(hash, a+address(done/unit))
			done, records = done+n, records+1
		}
		m.log.extend(&m.hot, uint32((done-size)/unit))
	}
	copy(m.bytesAt(a, uint32(done/unit)), payload[:done])
	return done, records
}

// reserve is Map.room, but gives up where that would look for memory in the log.
func (b *bulk) reserve(n uint32) bool {
	m := b.m
	need := m.needs(&m.hot, n)
	if m.inUse()+int64(need+reserve)*m.segCost() > m.opts.Budget {
		return false
	}
	return m.room(&m.hot, n, true) == nil
}

// end makes the index whole. If there is no room for what overflows its end, that is
// missing in the map afterwards.
func (b *bulk) end() (err error) {
	x := &b.m.index
	b.collect(0)
	free := 0 // the first slot that is
	for k := range b.filled {
		if k+1 < len(b.filled) {
			b.collect(k + 1)
		}
		list := b.sort(b.next[k&1].slots)
		for i, s := range list {
			if i%touchAhead == 0 {
				b.touch(list[i:min(len(list), i+touchAhead+1)])
			}
			if i+1 < len(list) && s>>32 == list[i+1]>>32 && b.superseded(address(s), list[i:]) || b.deletion(address(s)) {
				continue
			}
			pos := max(free, x.home(scrambled(s>>32)))
			if pos+2 > x.limit && err == nil {
				err = x.extend(pos + slack)
			}
			if err != nil {
				b.m.kill(address(s), b.m.layout.size(b.m.pointer(address(s))))
				continue
			}
			*x.at(pos) = s
			free, x.last = pos+1, pos
			x.count++
		}
	}
	b.m.killPending()
	b.m.log.owed = 0 // what garbage it has left is cleaned by and by
	return err
}

// collect takes the entries of a bucket out of the index.
func (b *bulk) collect(k int) {
	n := int(b.filled[k])
	slots := unsafe.Slice(b.m.index.at(k<<b.shift), n)
	b.next[k&1].slots = append(b.next[k&1].slots[:0], slots...)
	clear(slots)
}

// touch brings what has to be compared into the cache: as index.touch.
func (b *bulk) touch(list []uint64) {
	touched := uint64(0)
	for i := 1; i < len(list); i++ {
		if list[i]>>32 == list[i-1]>>32 {
			for _, a := range [...]address{address(list[i-1]), address(list[i])} {
				if !b.deletion(a) { // where nothing lies, memory may be missing
					touched |= b.m.word(a) | b.m.word(a+1) // which may be in the next line
				}
			}
		}
	}
	b.m.touched = touched
}

// superseded reports whether the entry at a, the first of list, has the key of one of
// those after it, which came later, and ends it then.
func (b *bulk) superseded(a address, list []uint64) bool {
	m := b.m
	var e view
	if b.deletion(a) {
		e.key = b.gone[a-1]
	} else {
		e = m.layout.at(m.pointer(a))
	}
	for _, other := range list[1:] {
		switch o := address(other); {
		case other>>32 != list[0]>>32:
			return false
		case b.deletion(o) && !bytes.Equal(b.gone[o-1], e.key), !b.deletion(o) && !m.layout.matches(m.pointer(o), e.key):
			continue
		}
		if !b.deletion(a) {
			m.killLater(a, e.units)
		}
		return true
	}
	return false
}

// sort sorts the entries of a bucket by their hashes, and returns where they are then. Of
// the same hash, those that came first are first.
func (b *bulk) sort(list []uint64) []uint64 {
	if len(list) == 0 {
		return list
	}
	low, high := list[0]>>32, list[0]>>32
	for _, s := range list {
		low, high = min(low, s>>32), max(high, s>>32)
	}
	to := b.spare[:len(list)]
	width := bits.Len64(high - low)
	passes := max(1, (width+digit-1)/digit)
	step := (width + passes - 1) / passes
	var places [1 << digit]uint32
	mask := uint64(1)<<step - 1
	for shift := 0; shift < width; shift += step {
		ends := places[:mask+1]
		clear(ends)
		for _, s := range list {
			ends[(s>>32-low)>>shift&mask]++
		}
		sum := uint32(0)
		for i, n := range ends {
			ends[i] = sum
			sum += n
		}
		for _, s := range list {
			at := &ends[(s>>32-low)>>shift&mask]
			to[*at] = s
			*at++
		}
		list, to = to, list
	}
	return list
}
