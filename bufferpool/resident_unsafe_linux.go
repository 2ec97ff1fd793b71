package bufferpool

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident is how many bytes of whole pages are in memory.
func resident(mem []byte) (bytes int64, ok bool) {
	var seen [16384]byte // a byte for each page
	page := os.Getpagesize()
	for len(mem) > 0 {
		part := mem[:min(len(mem), len(seen)*page)]
		if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&part[0])), uintptr(len(part)), uintptr(unsafe.Pointer(&seen[0]))); errno != 0 {
			return 0, false
		}
		for _, s := range seen[:(len(part)+page-1)/page] {
			bytes += int64(s&1) * int64(page)
		}
		mem = mem[len(part):]
	}
	return bytes, true
}
