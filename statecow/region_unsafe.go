package statecow

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/overtake-stream/overtake/internal/invariant"
)

const hugePage = 2 << 20

// region is a contiguous range of address space that gets memory as it grows, so
// that an address is an offset and growing never moves anything.
type region struct {
	// constant
	mem  []byte         // the mapping as reserved
	base unsafe.Pointer // aligned to a huge page
	size int            // usable bytes from base
	heap bool

	// owner
	committed int // bytes from base that may be touched
}

// newRegion reserves size bytes of address space. heap takes it from the Go heap.
func newRegion(size int, heap bool) (*region, error) {
	if heap {
		mem := make([]byte, size+hugePage)
		return alignRegion(&region{mem: mem, size: size, heap: true, committed: size}), nil
	}
	mem, err := unix.Mmap(-1, 0, size+hugePage, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("statecow: reserving %d bytes of address space: %w (lower Options.Budget)", size, err)
	}
	return alignRegion(&region{mem: mem, size: size}), nil
}

func alignRegion(r *region) *region {
	start := uintptr(unsafe.Pointer(&r.mem[0]))
	r.base = unsafe.Pointer(&r.mem[(hugePage-start%hugePage)%hugePage])
	return r
}

// bytes shares n bytes at off.
func (r *region) bytes(off, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.base, off)), n)
}

// commit makes the first n bytes usable. What is beyond the first huge page comes
// in whole huge pages: a small map stays small and a large one misses the TLB less.
func (r *region) commit(n int) error {
	if n <= r.committed {
		return nil
	}
	n = min(r.size, (n+hugePage-1)/hugePage*hugePage)
	from := r.committed
	part := r.bytes(from, n-from)
	if err := unix.Mprotect(part, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("statecow: committing %d bytes: %w (the system is out of memory)", n-from, err)
	}
	if from > 0 {
		adviseHuge(part)
	}
	r.committed = n
	return nil
}

// decommit gives the memory of a range back to the system; it reads as zero
// afterwards. Only whole pages are given back.
func (r *region) decommit(off, n int) {
	b := r.bytes(off, n)
	if r.heap {
		clear(b)
		return
	}
	if unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b)
	}
}

func (r *region) close() error {
	if r.heap || r.mem == nil {
		return nil
	}
	mem := r.mem
	r.mem, r.base = nil, nil
	return unix.Munmap(mem)
}

// poison marks freed memory in builds with invariants.
func (r *region) poison(off, n int) {
	if invariant.Enabled {
		invariant.Poison(r.bytes(off, n))
	}
}
