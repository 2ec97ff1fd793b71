package bufferpool

import (
	"errors"

	"golang.org/x/sys/unix"
)

// advise asks for huge pages, and touches the memory if told to. Kernels that know
// neither lose some speed and nothing else.
func advise(mem []byte, prefault bool) error {
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
	if !prefault {
		return nil
	}
	err := unix.Madvise(mem, unix.MADV_POPULATE_WRITE)
	if errors.Is(err, unix.EINVAL) {
		return nil // before Linux 5.14: touched on first use
	}
	return err
}
