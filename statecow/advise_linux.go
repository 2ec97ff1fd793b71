package statecow

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. Kernels that have none lose some speed.
func adviseHuge(mem []byte) { _ = unix.Madvise(mem, unix.MADV_HUGEPAGE) }
