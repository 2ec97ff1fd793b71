package statecow

import (
	"cmp"
	"unsafe"
)

// timerRef stands for a timer: the time it fires, and the hash under which it is
// stored.
type timerRef struct {
	at   int64
	hash uint32
	_    uint32
}

func (r timerRef) less(o timerRef) bool {
	return r.at < o.at || r.at == o.at && r.hash < o.hash
}

func (r timerRef) compare(o timerRef) int {
	return cmp.Or(cmp.Compare(r.at, o.at), cmp.Compare(r.hash, o.hash))
}

// timerHeap is a 4-ary min-heap off the Go heap: a node's children share a cache
// line.
type timerHeap struct {
	region *region
	limit  int // refs that there is memory for
	n      int
}

const timerSize = int(unsafe.Sizeof(timerRef{}))

func (h *timerHeap) at(i int) *timerRef {
	return (*timerRef)(unsafe.Add(h.region.base, i*timerSize))
}

// extend makes room for one more.
func (h *timerHeap) extend() error {
	limit := max(4096/timerSize, h.limit*5/4&^255)
	if limit*timerSize > h.region.size {
		return &BudgetError{Need: int64(timerSize), Used: int64(h.limit * timerSize), Budget: int64(h.region.size)}
	}
	if err := h.region.commit(limit * timerSize); err != nil {
		return err
	}
	h.limit = limit
	return nil
}

// push adds a ref; there is room.
func (h *timerHeap) push(r timerRef) {
	h.n++
	h.up(h.n-1, r)
}

// remove takes out the ref at i.
func (h *timerHeap) remove(i int) {
	h.n--
	if i == h.n {
		return
	}
	r := *h.at(h.n)
	if i > 0 && r.less(*h.at((i - 1) / 4)) {
		h.up(i, r)
	} else {
		h.down(i, r)
	}
}

func (h *timerHeap) up(i int, r timerRef) {
	for i > 0 {
		parent := (i - 1) / 4
		if !r.less(*h.at(parent)) {
			break
		}
		*h.at(i) = *h.at(parent)
		i = parent
	}
	*h.at(i) = r
}

func (h *timerHeap) down(i int, r timerRef) {
	for {
		first := 4*i + 1
		if first >= h.n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, h.n); c++ {
			if h.at(c).less(*h.at(least)) {
				least = c
			}
		}
		if !h.at(least).less(r) {
			break
		}
		*h.at(i) = *h.at(least)
		i = least
	}
	*h.at(i) = r
}

// trim gives back memory when most is unused.
func (h *timerHeap) trim() {
	limit := max(4096/timerSize, h.n*5/4&^255+256)
	if limit > h.limit/2 {
		return
	}
	h.region.decommit(limit*timerSize, (h.limit-limit)*timerSize)
	h.limit = limit
}
