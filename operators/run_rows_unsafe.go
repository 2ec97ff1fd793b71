package operators

import (
	"unsafe"

	"github.com/overtake-stream/overtake/netstack/record"
)

// spread is where the records of a run go.
type spread struct {
	places []place        // by subpartition
	subs   [runMax]int32  // by record: the subpartition
	none   [runMax]uint32 // hashes of records without one
}

// place is where the next records of a subpartition go.
type place struct {
	base    unsafe.Pointer
	at, end int // from base on
	wants   int // records of the run that have none
}

// hashes are those of a run.
func (s *spread) hashes(hashes []uint32, n int) []uint32 {
	if hashes == nil {
		return s.none[:n]
	}
	return hashes[:n]
}

// scatter writes a run to the subpartitions in s.subs. The records of one subpartition get
// their places together.
func (e *edge[T]) scatter(s *spread, r *Run[T], hashes []uint32) {
	n, stride := len(r.Values), record.Size(e.rows.size, r.Times != nil)
	for _, sub := range s.subs[:n] {
		s.places[sub].wants++
	}
	hashes = s.hashes(hashes, n)
	for i := e.fill(s, r, hashes, 0); i < n; i = e.fill(s, r, hashes, i) {
		e.place(&s.places[s.subs[i]], int(s.subs[i]), stride)
	}
}

// fill writes a run from record i on, up to the first that has no place, which it returns. It
// calls nothing, so that the loop has hardly anything to save in memory and to load again.
func (e *edge[T]) fill(s *spread, r *Run[T], hashes []uint32, i int) int {
	values, times, places, size := r.Values, r.Times, s.places, e.rows.size
	timed, padded := times != nil, size%8 != 0
	word, off, stride := uint64(record.Word(record.Data, size, timed)), record.Offset(timed), record.Size(size, timed)
	subs, hashes := s.subs[:len(values)], hashes[:len(values)]
	for ; i < len(values); i++ {
		p := &places[subs[i]]
		if p.at == p.end {
			break
		}
		at := unsafe.Add(p.base, p.at)
		p.at += stride
		if padded {
			*(*uint64)(unsafe.Add(at, stride-8)) = 0
		}
		*(*uint64)(at) = word | uint64(hashes[i])<<32
		if timed {
			*(*int64)(unsafe.Add(at, record.HeaderSize)) = times[i]
		}
		*(*T)(unsafe.Add(at, off)) = values[i]
	}
	return i
}

// place gets places for what a subpartition has of the run, as many as its open buffer has.
func (e *edge[T]) place(p *place, sub, stride int) {
	space, n := e.out.ExtendRun(sub, stride, p.wants)
	p.base, p.at, p.end = unsafe.Pointer(unsafe.SliceData(space)), 0, len(space)
	p.wants -= n
}

// append writes every step-th record of a run, from number i on, to one subpartition.
func (e *edge[T]) append(s *spread, r *Run[T], sub, i, step int) {
	n, size, timed := len(r.Values), e.rows.size, r.Times != nil
	word, off, stride := uint64(record.Word(record.Data, size, timed)), record.Offset(timed), record.Size(size, timed)
	hashes, values, padded := s.hashes(r.Hashes, n), r.Values[:n], size%8 != 0
	for i < n {
		space, _ := e.out.ExtendRun(sub, stride, (n-i+step-1)/step)
		base := unsafe.Pointer(unsafe.SliceData(space))
		for used := 0; used < len(space); used += stride {
			at := unsafe.Add(base, used)
			if padded {
				*(*uint64)(unsafe.Add(at, stride-8)) = 0
			}
			*(*uint64)(at) = word | uint64(hashes[i])<<32
			if timed {
				*(*int64)(unsafe.Add(at, record.HeaderSize)) = r.Times[i]
			}
			*(*T)(unsafe.Add(at, off)) = values[i]
			i += step
		}
	}
}
