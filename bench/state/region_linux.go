package state

import "golang.org/x/sys/unix"

// region is memory like that of statecow: off the heap, in huge pages where possible.
type region struct{ bytes []byte }

// newRegion returns a region with every page in place.
func newRegion(n int64) (*region, error) {
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // only faster
	for i := range b {
		b[i] = byte(i)
	}
	return &region{b}, nil
}

func (r *region) close() error { return unix.Munmap(r.bytes) }
